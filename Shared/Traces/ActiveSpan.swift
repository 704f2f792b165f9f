import Foundation
import Wire

/// A piece of work that is under way.
package struct ActiveSpan: Sendable {
  package let context: SpanContext
  let tracer: Tracer
  private let parent: UInt64?
  private let kind: EndedSpan.Kind
  private let start: UInt64
  private let started = ContinuousClock.now

  init(context: SpanContext, parent: UInt64?, kind: EndedSpan.Kind, tracer: Tracer) {
    self.context = context
    self.parent = parent
    self.kind = kind
    self.tracer = tracer
    // When it was, by the clock on the wall; how long it takes is measured by one that nobody sets.
    start = UInt64(max(0, Date().timeIntervalSince1970 * 1e6)) &* 1000
  }

  /// The request that this task works for, if it is traced.
  @TaskLocal package static var current: ActiveSpan?

  /// `work` for the request of `span`; when that is nil, as if it were not there.
  package static func within<T>(
    _ span: ActiveSpan?, isolation: isolated (any Actor)? = #isolation, _ work: () async -> T
  ) async -> T {
    guard let span else { return await work() }
    return await $current.withValue(span, operation: work)
  }

  /// The span of a question to another process, which continues it by its `traceparent`.
  package func asking() -> ActiveSpan {
    tracer.begin(.client, in: context.trace, under: context.span, isSampled: context.isSampled)
  }

  /// Nothing is made of a span that is not sampled.
  func end(_ name: @autoclosure () -> String, isError: Bool, _ attributes: @autoclosure () -> [Attribute]) {
    guard context.isSampled else { return }
    let took = (ContinuousClock.now - started).components
    let nanoseconds = UInt64(max(0, took.seconds)) &* 1_000_000_000 &+ UInt64(max(0, took.attoseconds / 1_000_000_000))
    tracer.exporter.add(
      EndedSpan(
        context: context, parent: parent, kind: kind, name: name(), start: start, end: start &+ nanoseconds,
        attributes: attributes(), isError: isError))
  }
}
