/// Parses JSON (RFC 8259) into a ``JSONTree``, with a bound on its depth.
package struct JSONReader {
  /// What is not JSON, or not JSON that a database stores.
  package enum Problem: Error { case malformed, tooDeep, nul, repeatedName }

  package static let nestingMax = 64

  let bytes: [UInt8]
  let nestingMax: Int
  private let acceptsNul: Bool
  private let acceptsRepeatedNames: Bool
  var position = 0

  /// - Parameters:
  ///   - acceptsNul: whether strings may have `\u0000`, which no database stores.
  ///   - acceptsRepeatedNames: whether an object may have several members of a name, of which the last counts.
  /// - Throws: ``Problem``.
  package static func tree(
    of bytes: [UInt8], nestingMax: Int = Self.nestingMax, acceptsNul: Bool = false, acceptsRepeatedNames: Bool = true
  ) throws -> JSONTree {
    guard String(validating: bytes, as: UTF8.self) != nil else { throw Problem.malformed }
    var reader = JSONReader(
      bytes: bytes, nestingMax: nestingMax, acceptsNul: acceptsNul, acceptsRepeatedNames: acceptsRepeatedNames)
    let tree = try reader.value(depth: 0)
    reader.skipBlanks()
    guard reader.position == bytes.count else { throw Problem.malformed }
    return tree
  }

  package static func tree(of text: String) throws -> JSONTree { try tree(of: Array(text.utf8)) }

  init(bytes: [UInt8], nestingMax: Int, acceptsNul: Bool, acceptsRepeatedNames: Bool) {
    self.bytes = bytes
    self.nestingMax = nestingMax
    self.acceptsNul = acceptsNul
    self.acceptsRepeatedNames = acceptsRepeatedNames
  }

  var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  mutating func skipBlanks() {
    while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
  }

  mutating func skip(_ scalar: Unicode.Scalar) -> Bool {
    guard next == UInt8(ascii: scalar) else { return false }
    position += 1
    return true
  }

  private mutating func expect(_ word: String, _ tree: JSONTree) throws -> JSONTree {
    guard bytes[position...].starts(with: word.utf8) else { throw Problem.malformed }
    position += word.utf8.count
    return tree
  }

  mutating func value(depth: Int) throws -> JSONTree {
    guard depth <= nestingMax else { throw Problem.tooDeep }
    skipBlanks()
    switch next {
    case UInt8(ascii: "{"): return try object(depth: depth)
    case UInt8(ascii: "["): return try array(depth: depth)
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try expect("true", .bool(true))
    case UInt8(ascii: "f"): return try expect("false", .bool(false))
    case UInt8(ascii: "n"): return try expect("null", .null)
    default: return .number(try number())
    }
  }

  private mutating func array(depth: Int) throws -> JSONTree {
    position += 1
    var elements: [JSONTree] = []
    skipBlanks()
    if skip("]") { return .array([]) }
    repeat {
      elements.append(try value(depth: depth + 1))
      skipBlanks()
    } while skip(",")
    guard skip("]") else { throw Problem.malformed }
    return .array(elements)
  }

  private mutating func object(depth: Int) throws -> JSONTree {
    position += 1
    var members: [JSONTree.Member] = []
    // Of few members each is compared with all.
    var places: [String: Int]?
    skipBlanks()
    if skip("}") { return .object([]) }
    repeat {
      skipBlanks()
      guard next == UInt8(ascii: "\"") else { throw Problem.malformed }
      let name = try string()
      skipBlanks()
      guard skip(":") else { throw Problem.malformed }
      let value = try value(depth: depth + 1)
      if let place = places.map({ $0[name] }) ?? members.firstIndex(where: { $0.name == name }) {
        guard acceptsRepeatedNames else { throw Problem.repeatedName }
        members[place].value = value
      } else {
        places?[name] = members.count
        members.append(JSONTree.Member(name: name, value: value))
        if members.count == Self.comparedMembersMax { places = Self.places(of: members) }
      }
      skipBlanks()
    } while skip(",")
    guard skip("}") else { throw Problem.malformed }
    return .object(members)
  }

  private static let comparedMembersMax = 16

  private static func places(of members: [JSONTree.Member]) -> [String: Int] {
    Dictionary(uniqueKeysWithValues: members.enumerated().map { ($1.name, $0) })
  }

  private mutating func number() throws -> String {
    let start = position
    _ = skip("-")
    if !skip("0") { try digits() }
    if skip(".") { try digits() }
    if skip("e") || skip("E") {
      if !skip("+") { _ = skip("-") }
      try digits()
    }
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    // PostgreSQL's numbers have more digits, but not without end.
    guard let value = Double(text), value.isFinite, text.utf8.count <= 400 else { throw Problem.malformed }
    return text
  }

  mutating func digits() throws {
    let start = position
    while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
    guard position > start else { throw Problem.malformed }
  }

  mutating func string() throws -> String {
    position += 1
    let start = position
    while let byte = next, byte >= 0x20, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") { position += 1 }
    // Most strings end here, and are copied whole.
    if next == UInt8(ascii: "\"") {
      defer { position += 1 }
      return String(decoding: bytes[start..<position], as: UTF8.self)
    }
    var text = Array(bytes[start..<position])
    while let byte = next {
      position += 1
      switch byte {
      case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
      case UInt8(ascii: "\\"): text += try escaped().utf8
      case ..<0x20: throw Problem.malformed
      default: text.append(byte)
      }
    }
    throw Problem.malformed
  }

  private mutating func escaped() throws -> String {
    guard let byte = next else { throw Problem.malformed }
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return String(Unicode.Scalar(byte))
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{c}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return try unicode()
    default: throw Problem.malformed
    }
  }

  /// Four hexadecimal digits, or a pair of surrogates.
  private mutating func unicode() throws -> String {
    let unit = try hexadecimal()
    guard unit != 0 || acceptsNul else { throw Problem.nul }
    if let scalar = Unicode.Scalar(UInt32(unit)) { return String(Character(scalar)) }
    guard (0xD800...0xDBFF).contains(unit), skip("\\"), skip("u") else { throw Problem.malformed }
    let low = try hexadecimal()
    guard (0xDC00...0xDFFF).contains(low),
      let scalar = Unicode.Scalar(0x10000 + (UInt32(unit) - 0xD800) << 10 + (UInt32(low) - 0xDC00))
    else { throw Problem.malformed }
    return String(Character(scalar))
  }

  private mutating func hexadecimal() throws -> UInt16 {
    guard bytes.count - position >= 4 else { throw Problem.malformed }
    let digits = bytes[position..<position + 4]
    position += 4
    guard digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
      let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
    else { throw Problem.malformed }
    return unit
  }
}
