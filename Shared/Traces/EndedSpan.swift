import Wire

/// A span that has ended, ready for export.
package struct EndedSpan: Sendable {
  /// The span kinds of OTLP that are used here.
  package enum Kind: Int, Sendable {
    /// A request to this process.
    case server = 2
    /// A request to another process.
    case client = 3
  }

  let context: SpanContext
  /// The parent's span id; nil for a root span.
  let parent: UInt64?
  let kind: Kind
  let name: String
  /// In nanoseconds since 1970.
  let start: UInt64
  let end: UInt64
  let attributes: [Attribute]
  let isError: Bool
}

/// An attribute of a span or of a resource. The values of span attributes come from small, fixed sets: never an id, a
/// raw path, or personal data.
package struct Attribute: Sendable {
  package enum Value: Sendable {
    case text(String)
    case number(Int)
  }

  let name: String
  let value: Value

  package init(_ name: String, _ text: String) {
    self.name = name
    value = .text(text)
  }

  package init(_ name: String, _ number: Int) {
    self.name = name
    value = .number(number)
  }
}
