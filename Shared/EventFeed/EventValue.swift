import Foundation
import Wire

/// A value in the payload or the record of an event. Nil is null.
package protocol EventValue: Sendable {
  /// Appends the value as JSON.
  ///
  /// - Throws: `EncodingError` for a number that is not finite.
  func write(to output: inout [UInt8]) throws
}

extension Int: EventValue {
  package func write(to output: inout [UInt8]) { output.append(utf8: String(self)) }
}

extension Bool: EventValue {
  package func write(to output: inout [UInt8]) { output.append(self ? "true" : "false") }
}

extension String: EventValue {
  package func write(to output: inout [UInt8]) { JSONTree.write(self, to: &output) }
}

extension Date: EventValue {
  package func write(to output: inout [UInt8]) { JSONTree.write(RFC3339.milliseconds(self), to: &output) }
}

extension ID: EventValue {
  package func write(to output: inout [UInt8]) { JSONTree.write(description, to: &output) }
}

extension Array: EventValue where Element: EventValue {
  package func write(to output: inout [UInt8]) throws {
    output.append(UInt8(ascii: "["))
    for index in indices {
      if index > 0 { output.append(UInt8(ascii: ",")) }
      try self[index].write(to: &output)
    }
    output.append(UInt8(ascii: "]"))
  }
}

extension Optional: EventValue where Wrapped: EventValue {
  package func write(to output: inout [UInt8]) throws {
    if let value = self { try value.write(to: &output) } else { output.append("null") }
  }
}

extension JSONValue: EventValue {}
