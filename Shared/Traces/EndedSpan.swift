import Wire

/// One piece of work that has ended, as it is told to a collector.
package struct EndedSpan: Sendable {
  package enum Kind: Int, Sendable {
    /// Answering a request.
    case server = 2
    /// Asking another process.
    case client = 3
  }

  let context: SpanContext
  /// nil: the trace begins here.
  let parent: UInt64?
  let kind: Kind
  let name: String
  /// In nanoseconds since 1970.
  let start: UInt64
  let end: UInt64
  let attributes: [Attribute]
  let isError: Bool
}

/// Something said of a span or of who tells it. Of a span, values come from small, fixed sets: never an id, a path as it
/// came, or a person's data.
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
