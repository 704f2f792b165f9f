import Wire

/// Begins spans and passes ended ones to the exporter. A process without a collector has no tracer.
package final class Tracer: Sendable {
  package let exporter: SpanExporter
  private let sampler: Sampler
  /// The attributes of every server span.
  let serverAttributes: [Attribute]

  package init(_ exporter: SpanExporter, sampler: Sampler, serverAttributes: [Attribute] = []) {
    self.exporter = exporter
    self.sampler = sampler
    self.serverAttributes = serverAttributes
  }

  /// Begins the server span of a request.
  ///
  /// - Parameters:
  ///   - traceparent: the caller's header; a new trace begins when it is missing or not valid.
  ///   - isTrusted: whether the caller is a service.
  package func begin(continuing traceparent: String?, isTrusted: @autoclosure () -> Bool) -> ActiveSpan {
    let parent = traceparent.flatMap { SpanContext(traceparent: $0) }
    let trace = parent?.trace ?? .random(in: 1 ... .max)
    let isSampled = sampler.samples(trace, under: parent, isTrusted: parent != nil && isTrusted())
    return begin(.server, in: trace, under: parent?.span, isSampled: isSampled)
  }

  func begin(_ kind: EndedSpan.Kind, in trace: UInt128, under parent: UInt64?, isSampled: Bool) -> ActiveSpan {
    let context = SpanContext(trace: trace, span: .random(in: 1 ... .max), isSampled: isSampled)
    return ActiveSpan(context: context, parent: parent, kind: kind, tracer: self)
  }
}
