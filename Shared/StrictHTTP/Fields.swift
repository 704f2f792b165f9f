/// The header fields of one head, validated. Fields are kept as positions in the bytes of the head; nothing is copied.
package struct Fields: Sendable {
  package struct Field: Sendable {
    /// The whole line, with its CRLF.
    package let line: HeadSlice
    package let nameEnd: UInt16
    package let value: HeadSlice
    package let name: FieldName
    /// Whether `Connection` names it, so that it is not forwarded (RFC 9110 §7.6.1).
    package fileprivate(set) var isConnectionOption = false

    /// - Parameters:
    ///   - name: in lower case.
    ///   - head: the bytes of the head.
    package func isNamed(_ name: StaticString, in head: Span<UInt8>) -> Bool {
      equalsIgnoringCase(head, line.start, Int(nameEnd), name)
    }
  }

  package private(set) var list: [Field] = []

  init() {}

  mutating func clear() { list.removeAll(keepingCapacity: true) }

  package func first(_ name: FieldName) -> Field? {
    for field in list where field.name == name { return field }
    return nil
  }

  /// The only field of that name; nil when there are none or several.
  package func only(_ name: FieldName) -> Field? {
    var found: Field?
    for field in list where field.name == name {
      guard found == nil else { return nil }
      found = field
    }
    return found
  }

  package func contains(_ name: FieldName) -> Bool { first(name) != nil }

  /// Reads field lines (RFC 9112 §5) from `start` through the empty line that ends them.
  ///
  /// - Returns: the index after that line, or nil when the bytes end before it.
  mutating func read(
    _ bytes: Span<UInt8>, from start: Int, _ limits: HTTPLimits
  ) throws(HTTPParseError) -> Int? {
    var index = start
    while true {
      guard index < bytes.count else { return nil }
      if bytes[index] == .carriageReturn {
        guard index + 1 < bytes.count else { return nil }
        guard bytes[index + 1] == .lineFeed else { throw .malformed }
        return index + 2
      }
      guard list.count < limits.fieldsMax else { throw .headTooLarge }
      guard let next = try readLine(bytes, from: index) else { return nil }
      index = next
    }
  }

  private mutating func readLine(_ bytes: Span<UInt8>, from start: Int) throws(HTTPParseError) -> Int? {
    guard let nameEnd = try Self.nameEnd(bytes, from: start) else { return nil }
    guard let valueEnd = try Self.lineEnd(bytes, from: nameEnd + 1) else { return nil }
    guard valueEnd + 1 < bytes.count else { return nil }
    guard bytes[valueEnd + 1] == .lineFeed else { throw .malformed }
    var first = nameEnd + 1
    var last = valueEnd
    while first < last, bytes[first].isWhitespace { first += 1 }
    while last > first, bytes[last - 1].isWhitespace { last -= 1 }
    list.append(
      Field(
        line: HeadSlice(start, valueEnd + 2), nameEnd: UInt16(clamping: nameEnd), value: HeadSlice(first, last),
        name: FieldName(bytes, start, nameEnd)))
    return valueEnd + 2
  }

  /// The end of a field name: letters, digits and hyphens up to a colon. Underscores are malformed because some
  /// programs convert them to hyphens, so that `X_User_ID` could be taken for `X-User-ID`. Whitespace before the colon
  /// or at the start of a line is malformed because programs interpret it differently.
  private static func nameEnd(_ bytes: Span<UInt8>, from start: Int) throws(HTTPParseError) -> Int? {
    var index = start
    while index < bytes.count {
      let byte = bytes[index]
      if byte == UInt8(ascii: ":") {
        guard index > start else { throw .malformed }
        return index
      }
      guard byte.isFieldNameByte, index - start < HTTPLimits.fieldNameBytesMax else { throw .malformed }
      index += 1
    }
    return nil
  }

  /// The carriage return that ends a value. Eight bytes are checked at a time, because most of a head is one long
  /// token.
  private static func lineEnd(_ bytes: Span<UInt8>, from start: Int) throws(HTTPParseError) -> Int? {
    let raw = bytes.bytes
    var index = start
    while index + 8 <= bytes.count {
      // The bytes of a token are all in 0x20...0x7E; a word with any other byte is checked byte by byte.
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
        guard bytes[index].isFieldValueByte else { throw .malformed }
        index += 1
      }
    }
    while index < bytes.count {
      if bytes[index] == .carriageReturn { return index }
      guard bytes[index].isFieldValueByte else { throw .malformed }
      index += 1
    }
    return nil
  }

  /// Marks the fields that `Connection` names. Naming a field that the gateway sets or reads is malformed: it is an
  /// attempt to have that field removed.
  ///
  /// - Returns: whether the list contains `close`, and whether it contains `keep-alive`.
  mutating func readConnection(
    _ bytes: Span<UInt8>, _ value: HeadSlice
  ) throws(HTTPParseError) -> (closes: Bool, keepsAlive: Bool) {
    var closes = false
    var keepsAlive = false
    var index = value.start
    while index < value.end {
      while index < value.end, bytes[index].isWhitespace || bytes[index] == UInt8(ascii: ",") { index += 1 }
      let start = index
      while index < value.end, bytes[index].isFieldNameByte { index += 1 }
      let end = index
      while index < value.end, bytes[index].isWhitespace { index += 1 }
      guard index == value.end || bytes[index] == UInt8(ascii: ",") else { throw .malformed }
      guard start < end else { continue }
      if equalsIgnoringCase(bytes, start, end, "close") {
        closes = true
      } else if equalsIgnoringCase(bytes, start, end, "keep-alive") {
        keepsAlive = true
      } else {
        try markConnectionOption(bytes, start, end)
      }
    }
    return (closes, keepsAlive)
  }

  private mutating func markConnectionOption(_ bytes: Span<UInt8>, _ start: Int, _ end: Int) throws(HTTPParseError) {
    guard end - start <= HTTPLimits.fieldNameBytesMax else { throw .malformed }
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
      if isSame { list[index].isConnectionOption = true }
    }
  }
}

extension UInt8 {
  static let lineFeed: UInt8 = 0x0A
  static let carriageReturn: UInt8 = 0x0D

  /// A space or a tab.
  var isWhitespace: Bool { self == 0x20 || self == 0x09 }

  /// A letter, a digit or a hyphen.
  var isFieldNameByte: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
      true
    default: false
    }
  }

  /// Visible, whitespace, or outside of ASCII (RFC 9110 §5.5).
  var isFieldValueByte: Bool { self >= 0x20 ? self != 0x7F : self == 0x09 }

  var isDigit: Bool { self &- 0x30 < 10 }

  /// The value of a hexadecimal digit.
  var hexDigitValue: UInt8? {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
