import Wire

/// Begins spans and hands those that have ended to the exporter. A process without a collector has none.
package final class Tracer: Sendable {
  package let exporter: SpanExporter
  private let sampler: Sampler
  /// What is said of every request that this process answers.
  let answering: [Attribute]

  package init(_ exporter: SpanExporter, sampler: Sampler, answering: [Attribute] = []) {
    self.exporter = exporter
    self.sampler = sampler
    self.answering = answering
  }

  /// The span of a request that has come.
  ///
  /// - Parameters:
  ///   - traceparent: what the caller said; a trace begins here when that is nothing, or nonsense.
  ///   - isTrusted: whether the caller is a service.
  package func begin(continuing traceparent: String?, isTrusted: @autoclosure () -> Bool) -> ActiveSpan {
    let parent = traceparent.flatMap { SpanContext(traceparent: $0) }
    let trace = parent?.trace ?? .random(in: 1 ... .max)
    let isSampled = sampler.takes(trace, under: parent, isTrusted: parent != nil && isTrusted())
    return begin(.server, in: trace, under: parent?.span, isSampled: isSampled)
  }

  func begin(_ kind: EndedSpan.Kind, in trace: UInt128, under parent: UInt64?, isSampled: Bool) -> ActiveSpan {
    let context = SpanContext(trace: trace, span: .random(in: 1 ... .max), isSampled: isSampled)
    return ActiveSpan(context: context, parent: parent, kind: kind, tracer: self)
  }
}
