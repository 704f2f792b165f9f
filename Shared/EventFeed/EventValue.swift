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
  package func write(to output: inout [UInt8]) { output += String(self).utf8 }
}

extension Bool: EventValue {
  package func write(to output: inout [UInt8]) { output += (self ? "true" : "false").utf8 }
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
    for (index, element) in enumerated() {
      if index > 0 { output.append(UInt8(ascii: ",")) }
      try element.write(to: &output)
    }
    output.append(UInt8(ascii: "]"))
  }
}

extension Optional: EventValue where Wrapped: EventValue {
  package func write(to output: inout [UInt8]) throws {
    if let value = self { try value.write(to: &output) } else { output += "null".utf8 }
  }
}

extension JSONValue: EventValue {}
