import Foundation

/// A body that writes its JSON itself, which takes a fifth of the time of its `encode(to:)`: for those that are asked for
/// most, or have hundreds of members. ``JSON`` has them written so where they are the whole body. A test of each such body
/// calls `expectWritesWhatItEncodes()`: nothing else notices a member that was forgotten.
///
/// `public`, as are the generic functions that write them: of those that are `package`, even with `@inlinable`, the compiler
/// (Swift 6.3) makes no versions for the types of another module, and they look up metadata at each call.
public protocol JSONWritable: Encodable {
  /// Writes what `encode(to:)` encodes.
  func write(to json: inout JSONWriter) throws
}

/// A body that is a JSON object.
public protocol JSONObjectWritable: JSONWritable {
  /// Writes the members that `encode(to:)` encodes, in the order of their names.
  func writeMembers(to json: inout JSONWriter) throws
}

extension JSONObjectWritable {
  @inlinable public func write(to json: inout JSONWriter) throws {
    json.beginObject()
    try writeMembers(to: &json)
    json.endObject()
  }
}

extension Array: JSONWritable where Element: JSONWritable {
  @inlinable public func write(to json: inout JSONWriter) throws {
    json.beginArray()
    for element in self {
      json.beginElement()
      try element.write(to: &json)
    }
    json.endArray()
  }
}

/// Writes JSON text as ``JSONTree`` does.
public struct JSONWriter {
  private(set) var text: [UInt8] = []
  private let isExact: Bool
  /// Whether the next member or element is the first of its object or array.
  private var isFirst = true

  /// - Parameter isExact: whether times have milliseconds.
  init(isExact: Bool) {
    self.isExact = isExact
    text.reserveCapacity(512)
  }

  @usableFromInline mutating func beginObject() {
    text.append(UInt8(ascii: "{"))
    isFirst = true
  }

  @usableFromInline mutating func endObject() {
    text.append(UInt8(ascii: "}"))
    isFirst = false
  }

  @usableFromInline mutating func beginArray() {
    text.append(UInt8(ascii: "["))
    isFirst = true
  }

  @usableFromInline mutating func endArray() {
    text.append(UInt8(ascii: "]"))
    isFirst = false
  }

  @usableFromInline mutating func beginElement() {
    if !isFirst { text.append(UInt8(ascii: ",")) }
    isFirst = false
  }

  /// - Parameter name: without characters that JSON escapes.
  @usableFromInline mutating func beginMember(_ name: StaticString) {
    beginElement()
    text.append(UInt8(ascii: "\""))
    text.append(name)
    text.append(UInt8(ascii: "\""))
    text.append(UInt8(ascii: ":"))
  }
}

/// Members that are left out where the value is nil.
extension JSONWriter {
  package mutating func member(_ name: StaticString, _ value: String?) {
    guard let value else { return }
    beginMember(name)
    JSONTree.write(value, to: &text)
  }

  package mutating func member(_ name: StaticString, _ value: Int?) {
    guard let value else { return }
    beginMember(name)
    text.append(utf8: String(value))
  }

  package mutating func member(_ name: StaticString, _ value: Bool?) {
    guard let value else { return }
    beginMember(name)
    text.append(value ? "true" : "false")
  }

  package mutating func member(_ name: StaticString, _ value: Date?) {
    guard let value else { return }
    beginMember(name)
    text.append(UInt8(ascii: "\""))
    text.append(utf8: isExact ? RFC3339.milliseconds(value) : RFC3339.seconds(value))
    text.append(UInt8(ascii: "\""))
  }

  package mutating func member(_ name: StaticString, texts: [String]?) {
    guard let texts else { return }
    beginMember(name)
    beginArray()
    for element in texts {
      beginElement()
      JSONTree.write(element, to: &text)
    }
    endArray()
  }

  @inlinable public mutating func member(_ name: StaticString, _ value: (some JSONWritable)?) throws {
    guard let value else { return }
    beginMember(name)
    try value.write(to: &self)
  }

  /// A value that does not write itself.
  package mutating func member(_ name: StaticString, encoding value: (some Encodable)?) throws {
    guard let value else { return }
    beginMember(name)
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
    beginMember(name)
    text.append("null")
  }
}
