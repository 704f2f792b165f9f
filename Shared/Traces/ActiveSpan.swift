import Foundation
import Wire

/// A span that has started and not ended.
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
    // The start is wall-clock time; the duration is measured with a monotonic clock.
    start = UInt64(max(0, Date().timeIntervalSince1970 * 1e6)) &* 1000
  }

  /// The server span of the request that this task handles, if it is traced.
  @TaskLocal package static var current: ActiveSpan?

  /// Runs `work` with `span` as the current span; without a span it only runs `work`.
  package static func within<T>(
    _ span: ActiveSpan?, isolation: isolated (any Actor)? = #isolation, _ work: () async -> T
  ) async -> T {
    guard let span else { return await work() }
    return await $current.withValue(span, operation: work)
  }

  /// Begins the span of a request to another process, which continues the trace by its `traceparent`.
  package func beginClientSpan() -> ActiveSpan {
    tracer.begin(.client, in: context.trace, under: context.span, isSampled: context.isSampled)
  }

  /// Ends the span and queues it for export. Does nothing for a span that is not sampled.
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
