import Foundation

/// A body that writes its JSON itself, which takes a fifth of the time of its `encode(to:)`: for those that are asked for
/// most, or have hundreds of members. ``JSON`` has them written so where they are the whole body. A test of each such body
/// calls `expectWritesWhatItEncodes()`: nothing else notices a member that was forgotten.
package protocol JSONWritable: Encodable {
  /// Writes what `encode(to:)` encodes.
  func write(to json: inout JSONWriter) throws
}

/// A body that is a JSON object.
package protocol JSONObjectWritable: JSONWritable {
  /// Writes the members that `encode(to:)` encodes, in the order of their names.
  func writeMembers(to json: inout JSONWriter) throws
}

extension JSONObjectWritable {
  package func write(to json: inout JSONWriter) throws {
    try json.writeObject { try writeMembers(to: &$0) }
  }
}

extension Array: JSONWritable where Element: JSONWritable {
  package func write(to json: inout JSONWriter) throws { try json.writeArray(self) }
}

/// Writes JSON text as ``JSONTree`` does.
package struct JSONWriter {
  private(set) var text: [UInt8] = []
  private let isExact: Bool
  /// Whether the next member is the first of its object.
  private var isFirst = true

  /// - Parameter isExact: whether times have milliseconds.
  init(isExact: Bool) {
    self.isExact = isExact
    text.reserveCapacity(512)
  }

  fileprivate mutating func writeObject(_ writeMembers: (inout JSONWriter) throws -> Void) rethrows {
    text.append(UInt8(ascii: "{"))
    isFirst = true
    try writeMembers(&self)
    isFirst = false
    text.append(UInt8(ascii: "}"))
  }

  fileprivate mutating func writeArray(_ elements: [some JSONWritable]) throws {
    text.append(UInt8(ascii: "["))
    for (index, element) in elements.enumerated() {
      if index > 0 { text.append(UInt8(ascii: ",")) }
      try element.write(to: &self)
    }
    text.append(UInt8(ascii: "]"))
  }

  /// - Parameter name: without characters that JSON escapes.
  private mutating func write(_ name: StaticString) {
    if !isFirst { text.append(UInt8(ascii: ",")) }
    isFirst = false
    text.append(UInt8(ascii: "\""))
    name.withUTF8Buffer { text.append(contentsOf: $0) }
    text.append(UInt8(ascii: "\""))
    text.append(UInt8(ascii: ":"))
  }
}

/// Members that are left out where the value is nil.
extension JSONWriter {
  package mutating func member(_ name: StaticString, _ value: String?) {
    guard let value else { return }
    write(name)
    JSONTree.write(value, to: &text)
  }

  package mutating func member(_ name: StaticString, _ value: Int?) {
    guard let value else { return }
    write(name)
    text += String(value).utf8
  }

  package mutating func member(_ name: StaticString, _ value: Bool?) {
    guard let value else { return }
    write(name)
    text += (value ? "true" : "false").utf8
  }

  package mutating func member(_ name: StaticString, _ value: Date?) {
    guard let value else { return }
    write(name)
    text.append(UInt8(ascii: "\""))
    text += (isExact ? RFC3339.milliseconds(value) : RFC3339.seconds(value)).utf8
    text.append(UInt8(ascii: "\""))
  }

  package mutating func member(_ name: StaticString, _ value: (some JSONWritable)?) throws {
    guard let value else { return }
    write(name)
    try value.write(to: &self)
  }

  /// A value that does not write itself.
  package mutating func member(_ name: StaticString, encoding value: (some Encodable)?) throws {
    guard let value else { return }
    write(name)
    try JSON.tree(of: value, isExact: isExact).write(to: &text)
  }
}

/// Members that are null where the value is nil.
extension JSONWriter {
  package mutating func memberOrNull(_ name: StaticString, _ value: String?) {
    if value == nil { null(name) } else { member(name, value) }
  }

  package mutating func memberOrNull(_ name: StaticString, _ value: Int?) {
    if value == nil { null(name) } else { member(name, value) }
  }

  package mutating func memberOrNull(_ name: StaticString, _ value: Date?) {
    if value == nil { null(name) } else { member(name, value) }
  }

  private mutating func null(_ name: StaticString) {
    write(name)
    text += "null".utf8
  }
}
