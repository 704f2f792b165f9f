/// The header fields of one head: found, checked, and left where they are.
package struct Fields: Sendable {
  package struct Field: Sendable {
    /// The whole line, with its CRLF.
    package let line: Slice
    package let nameEnd: UInt16
    package let value: Slice
    package let name: FieldName
    /// Named by `Connection`, so for this hop only.
    package fileprivate(set) var isForThisHop = false
  }

  package private(set) var list: [Field] = []

  init() {}

  mutating func clear() { list.removeAll(keepingCapacity: true) }

  package func first(_ name: FieldName) -> Field? {
    for field in list where field.name == name { return field }
    return nil
  }

  /// The one of that name; nil when there are none or several.
  package func only(_ name: FieldName) -> Field? {
    var found: Field?
    for field in list where field.name == name {
      guard found == nil else { return nil }
      found = field
    }
    return found
  }

  package func contains(_ name: FieldName) -> Bool { first(name) != nil }

  /// Reads field lines (RFC 9112 §5) from `index` on, up to and with the empty line that ends them.
  ///
  /// - Returns: the index after that line, or nil when the bytes end before it.
  mutating func read(_ bytes: Span<UInt8>, from start: Int) throws(Refusal) -> Int? {
    var index = start
    while true {
      guard index < bytes.count else { return nil }
      if bytes[index] == .carriageReturn {
        guard index + 1 < bytes.count else { return nil }
        guard bytes[index + 1] == .lineFeed else { throw .malformed }
        return index + 2
      }
      guard list.count < Limits.fieldsMax else { throw .headTooLarge }
      guard let next = try readLine(bytes, from: index) else { return nil }
      index = next
    }
  }

  private mutating func readLine(_ bytes: Span<UInt8>, from start: Int) throws(Refusal) -> Int? {
    guard let nameEnd = try Self.nameEnd(bytes, from: start) else { return nil }
    guard let valueEnd = try Self.lineEnd(bytes, from: nameEnd + 1) else { return nil }
    guard valueEnd + 1 < bytes.count else { return nil }
    guard bytes[valueEnd + 1] == .lineFeed else { throw .malformed }
    var first = nameEnd + 1
    var last = valueEnd
    while first < last, bytes[first].isBlank { first += 1 }
    while last > first, bytes[last - 1].isBlank { last -= 1 }
    list.append(
      Field(
        line: Slice(start, valueEnd + 2), nameEnd: UInt16(clamping: nameEnd), value: Slice(first, last),
        name: FieldName(bytes, start, nameEnd)))
    return valueEnd + 2
  }

  /// Letters, digits and hyphens up to a colon. An underscore becomes a hyphen in some programs: `X_User_ID` would be a
  /// way in. A blank before the colon, or at the start of a line, is read differently by different programs.
  private static func nameEnd(_ bytes: Span<UInt8>, from start: Int) throws(Refusal) -> Int? {
    var index = start
    while index < bytes.count {
      let byte = bytes[index]
      if byte == UInt8(ascii: ":") {
        guard index > start else { throw .malformed }
        return index
      }
      guard byte.isOfName, index - start < Limits.fieldNameBytesMax else { throw .malformed }
      index += 1
    }
    return nil
  }

  /// The carriage return that ends a value. Eight bytes at a time: most of a head is one long bearer.
  private static func lineEnd(_ bytes: Span<UInt8>, from start: Int) throws(Refusal) -> Int? {
    let raw = bytes.bytes
    var index = start
    while index + 8 <= bytes.count {
      // A bearer's bytes are all in 0x20...0x7E; whatever else is in a word is looked at byte by byte.
      let word = raw.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self)
      let below = (word &- 0x2020_2020_2020_2020) & ~word
      let delete = word ^ 0x7F7F_7F7F_7F7F_7F7F
      let isDelete = (delete &- 0x0101_0101_0101_0101) & ~delete
      guard (below | isDelete | word) & 0x8080_8080_8080_8080 != 0 else {
        index += 8
        continue
      }
      for _ in 0..<8 {
        if bytes[index] == .carriageReturn { return index }
        guard bytes[index].isOfValue else { throw .malformed }
        index += 1
      }
    }
    while index < bytes.count {
      if bytes[index] == .carriageReturn { return index }
      guard bytes[index].isOfValue else { throw .malformed }
      index += 1
    }
    return nil
  }

  /// Marks the fields that `Connection` names. A list that names what the gateway sets or reads is a trick to make it
  /// drop its own words.
  ///
  /// - Returns: whether it says `close`, and whether `keep-alive`.
  mutating func readConnection(
    _ bytes: Span<UInt8>, _ value: Slice
  ) throws(Refusal) -> (closes: Bool, keepsAlive: Bool) {
    var closes = false
    var keepsAlive = false
    var index = value.start
    while index < value.end {
      while index < value.end, bytes[index].isBlank || bytes[index] == UInt8(ascii: ",") { index += 1 }
      let start = index
      while index < value.end, bytes[index].isOfName { index += 1 }
      let end = index
      while index < value.end, bytes[index].isBlank { index += 1 }
      guard index == value.end || bytes[index] == UInt8(ascii: ",") else { throw .malformed }
      guard start < end else { continue }
      if same(bytes, start, end, "close") {
        closes = true
      } else if same(bytes, start, end, "keep-alive") {
        keepsAlive = true
      } else {
        try mark(bytes, start, end)
      }
    }
    return (closes, keepsAlive)
  }

  private mutating func mark(_ bytes: Span<UInt8>, _ start: Int, _ end: Int) throws(Refusal) {
    guard end - start <= Limits.fieldNameBytesMax else { throw .malformed }
    switch FieldName(bytes, start, end) {
    case .other, .hopByHop, .upgrade: break
    default: throw .malformed
    }
    for index in list.indices {
      let field = list[index]
      guard Int(field.nameEnd) - field.line.start == end - start else { continue }
      var isSame = true
      for offset in 0..<(end - start) where bytes[start + offset] | 0x20 != bytes[field.line.start + offset] | 0x20 {
        isSame = false
        break
      }
      if isSame { list[index].isForThisHop = true }
    }
  }
}

extension UInt8 {
  static let lineFeed: UInt8 = 0x0A
  static let carriageReturn: UInt8 = 0x0D

  /// A space or a tab.
  var isBlank: Bool { self == 0x20 || self == 0x09 }

  /// A letter, a digit or a hyphen.
  var isOfName: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
      true
    default: false
    }
  }

  /// Visible, blank, or beyond ASCII (RFC 9110 §5.5).
  var isOfValue: Bool { self >= 0x20 ? self != 0x7F : self == 0x09 }

  var isDigit: Bool { self &- 0x30 < 10 }

  /// The value of a hexadecimal digit.
  var hexDigit: UInt8? {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
