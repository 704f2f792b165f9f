/// Reading a text from its beginning to its end: some values are read, others are passed on as they are written.
extension JSONReader {
  /// - Throws: ``Problem``, also for what may be JSON and has to be read as a tree; and what `read` throws.
  static func read<T>(_ bytes: [UInt8], _ read: (inout JSONReader) throws -> T) throws -> T {
    guard String(validating: bytes, as: UTF8.self) != nil else { throw Problem.malformed }
    var reader = JSONReader(bytes: bytes, nestingMax: nestingMax, acceptsNul: false, acceptsRepeatedNames: false)
    let value = try read(&reader)
    reader.skipBlanks()
    guard reader.position == bytes.count else { throw Problem.malformed }
    return value
  }

  /// - Parameter read: reads the value of the member.
  mutating func members(_ read: (String, inout JSONReader) throws -> Void) throws {
    try parts("{", "}") { reader in
      let name = try reader.text()
      reader.skipBlanks()
      guard reader.skip(":") else { throw Problem.malformed }
      try read(name, &reader)
    }
  }

  /// - Parameter read: reads the element.
  mutating func elements<T>(_ read: (inout JSONReader) throws -> T) throws -> [T] {
    var elements: [T] = []
    try parts("[", "]") { elements.append(try read(&$0)) }
    return elements
  }

  private mutating func parts(
    _ first: Unicode.Scalar, _ last: Unicode.Scalar, _ read: (inout JSONReader) throws -> Void
  ) throws {
    skipBlanks()
    guard skip(first) else { throw Problem.malformed }
    skipBlanks()
    if skip(last) { return }
    repeat {
      try read(&self)
      skipBlanks()
    } while skip(",")
    guard skip(last) else { throw Problem.malformed }
  }

  mutating func text() throws -> String {
    skipBlanks()
    guard next == UInt8(ascii: "\"") else { throw Problem.malformed }
    return try string()
  }

  mutating func tree() throws -> JSONTree { try value(depth: 0) }

  /// The text of an object. It has no blanks between its parts, and so no line breaks.
  mutating func unreadObject() throws -> String {
    skipBlanks()
    guard next == UInt8(ascii: "{") else { throw Problem.malformed }
    return try written { try $0.skipValue(depth: 0) }
  }

  /// The text of what is read.
  mutating func written(_ read: (inout JSONReader) throws -> Void) throws -> String {
    skipBlanks()
    let start = position
    try read(&self)
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }

  mutating func skipNull() -> Bool {
    skipBlanks()
    return skip(word: "null")
  }

  private mutating func skip(word: StaticString) -> Bool {
    word.withUTF8Buffer { word in
      guard bytes[position...].starts(with: word) else { return false }
      position += word.count
      return true
    }
  }

  private mutating func skipValue(depth: Int) throws {
    guard depth <= nestingMax else { throw Problem.tooDeep }
    switch next {
    case UInt8(ascii: "{"):
      try skipParts("}") { reader in
        try reader.skipString()
        guard reader.skip(":") else { throw Problem.malformed }
        try reader.skipValue(depth: depth + 1)
      }
    case UInt8(ascii: "["): try skipParts("]") { try $0.skipValue(depth: depth + 1) }
    case UInt8(ascii: "\""): try skipString()
    case UInt8(ascii: "t"): guard skip(word: "true") else { throw Problem.malformed }
    case UInt8(ascii: "f"): guard skip(word: "false") else { throw Problem.malformed }
    case UInt8(ascii: "n"): guard skip(word: "null") else { throw Problem.malformed }
    default: try skipNumber()
    }
  }

  private mutating func skipParts(_ last: Unicode.Scalar, _ part: (inout JSONReader) throws -> Void) throws {
    position += 1
    if skip(last) { return }
    repeat { try part(&self) } while skip(",")
    guard skip(last) else { throw Problem.malformed }
  }

  /// - Throws: for `\u` as well, which may be NUL or half of a character.
  private mutating func skipString() throws {
    guard skip("\"") else { throw Problem.malformed }
    while let byte = next {
      position += 1
      switch byte {
      case UInt8(ascii: "\""): return
      case UInt8(ascii: "\\"):
        guard let escaped = next, Self.escapes.contains(escaped) else { throw Problem.malformed }
        position += 1
      case ..<0x20: throw Problem.malformed
      default: break
      }
    }
    throw Problem.malformed
  }

  private static let escapes = Set(#""\/bfnrt"#.utf8)

  /// - Throws: for exponents and very many digits as well: the number may be too large.
  private mutating func skipNumber() throws {
    let start = position
    _ = skip("-")
    if !skip("0") { try digits() }
    if skip(".") { try digits() }
    guard position - start <= Self.skippedDigitsMax, next != UInt8(ascii: "e"), next != UInt8(ascii: "E") else {
      throw Problem.malformed
    }
  }

  private static let skippedDigitsMax = 30
}
