import Wire

/// The source of spans: the resource (the process) and the instrumentation scope (the service in it).
package struct TelemetrySource: Sendable {
  /// The attributes of the process, including `service.name`.
  let resource: [Attribute]
  /// The name of the service: one process may run several.
  let scope: String
  let version: String

  package init(_ resource: [Attribute], scope: String, version: String) {
    self.resource = resource
    self.scope = scope
    self.version = version
  }
}

/// `ExportTraceServiceRequest` in the JSON encoding of OTLP 1.x: ids in hex, names in camel case, 64-bit integers as
/// strings, enums as integers.
struct OTLP: Encodable {
  private let resourceSpans: [ResourceSpans]

  init(_ spans: [EndedSpan], from source: TelemetrySource) {
    let scope = ScopeSpans(
      scope: Scope(name: source.scope, version: source.version), spans: spans.map { SpanBody($0) })
    let resource = Resource(attributes: source.resource.map { AttributeBody($0) })
    resourceSpans = [ResourceSpans(resource: resource, scopeSpans: [scope])]
  }

  private struct ResourceSpans: Encodable {
    let resource: Resource
    let scopeSpans: [ScopeSpans]
  }

  private struct Resource: Encodable {
    let attributes: [AttributeBody]
  }

  private struct ScopeSpans: Encodable {
    let scope: Scope
    let spans: [SpanBody]
  }

  private struct Scope: Encodable {
    let name: String
    let version: String
  }

  private struct SpanBody: Encodable {
    let traceId: String
    let spanId: String
    let parentSpanId: String?
    let flags: Int
    let name: String
    let kind: Int
    let startTimeUnixNano: String
    let endTimeUnixNano: String
    let attributes: [AttributeBody]
    let status: Status

    init(_ span: EndedSpan) {
      traceId = span.context.traceID
      spanId = span.context.spanID
      parentSpanId = span.parent.map { SpanContext.hex($0, digits: 16) }
      flags = span.context.isSampled ? 1 : 0
      name = span.name
      kind = span.kind.rawValue
      startTimeUnixNano = String(span.start)
      endTimeUnixNano = String(span.end)
      attributes = span.attributes.map { AttributeBody($0) }
      status = Status(code: span.isError ? 2 : nil)
    }
  }

  /// `code` is missing (unset) or 2 (error).
  private struct Status: Encodable {
    let code: Int?
  }

  private struct AttributeBody: Encodable {
    let key: String
    let value: Value

    struct Value: Encodable {
      var stringValue: String?
      var intValue: String?
    }

    init(_ attribute: Attribute) {
      key = attribute.name
      switch attribute.value {
      case .text(let text): value = Value(stringValue: text)
      case .number(let number): value = Value(intValue: String(number))
      }
    }
  }
}
