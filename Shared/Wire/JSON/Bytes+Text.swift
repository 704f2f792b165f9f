/// Appending text as one block of bytes: `+= text.utf8` goes through the sequence of its bytes.
extension [UInt8] {
  package mutating func append(_ text: StaticString) { text.withUTF8Buffer { append(contentsOf: $0) } }

  package mutating func append(utf8 text: String) {
    var text = text
    text.withUTF8 { append(contentsOf: $0) }
  }

  /// Appends text that a JSON string can have as it is: without quotes, backslashes and control characters.
  ///
  /// - Returns: false for any other text, of which nothing is appended.
  package mutating func append(ifPlain text: String) -> Bool {
    var text = text
    return text.withUTF8 { append(ifPlain: $0) }
  }

  /// The same for text in UTF-8.
  mutating func append(ifPlain text: UnsafeBufferPointer<UInt8>) -> Bool {
    guard text.isPlain else { return false }
    append(contentsOf: text)
    return true
  }
}

extension UnsafeBufferPointer<UInt8> {
  /// Eight bytes are checked at a time.
  fileprivate var isPlain: Bool {
    let raw = UnsafeRawBufferPointer(self)
    var index = 0
    while index + 8 <= count {
      let word = raw.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      // A byte below 0x20 borrows from its highest bit, as does a zero: one that is equal to the other byte.
      let control = (word &- 0x2020_2020_2020_2020) & ~word
      let found = control | Self.zeros(word ^ 0x2222_2222_2222_2222) | Self.zeros(word ^ 0x5C5C_5C5C_5C5C_5C5C)
      guard (found | Self.zeros(word ^ 0x7F7F_7F7F_7F7F_7F7F)) & 0x8080_8080_8080_8080 == 0 else { return false }
      index += 8
    }
    return self[index...].allSatisfy { byte in
      byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\") && byte != 0x7F
    }
  }

  /// The highest bit of each byte that is zero, and perhaps of some above one.
  private static func zeros(_ word: UInt64) -> UInt64 { (word &- 0x0101_0101_0101_0101) & ~word }
}
