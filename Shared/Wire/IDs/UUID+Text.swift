import Foundation

/// Faster than Foundation's parsing and formatting, as a response may have many ids: a UUID is four words of eight
/// digits each, of which the two in the middle have a hyphen before each half (RFC 9562 §4).
extension UUID {
  /// Parses the 36-character form in either case; nil for any other text.
  init?(canonical text: String) {
    var text = text
    guard let uuid = text.withUTF8({ UUID(canonical: UnsafeRawBufferPointer($0)) }) else { return nil }
    self = uuid
  }

  private init?(canonical text: UnsafeRawBufferPointer) {
    guard text.count == 36 else { return nil }
    for index in [8, 13, 18, 23] where text[index] != UInt8(ascii: "-") { return nil }
    guard let first = Self.word(text, 0, 4), let second = Self.word(text, 9, 14), let third = Self.word(text, 19, 24),
      let fourth = Self.word(text, 28, 32)
    else { return nil }
    self.init(
      uuid: unsafeBitCast((first.bigEndian, second.bigEndian, third.bigEndian, fourth.bigEndian), to: uuid_t.self))
  }

  /// - Parameters:
  ///   - high: where its first four digits are.
  ///   - low: where its last four digits are.
  private static func word(_ text: UnsafeRawBufferPointer, _ high: Int, _ low: Int) -> UInt32? {
    let high = UInt32(littleEndian: text.loadUnaligned(fromByteOffset: high, as: UInt32.self))
    let low = UInt32(littleEndian: text.loadUnaligned(fromByteOffset: low, as: UInt32.self))
    return HexDigits.word(of: UInt64(low) << 32 | UInt64(high))
  }

  /// The 36-character form.
  var lowercaseText: String {
    String(unsafeUninitializedCapacity: 36) { text in
      let text = UnsafeMutableRawBufferPointer(text)
      for index in [8, 13, 18, 23] { text[index] = UInt8(ascii: "-") }
      let words = unsafeBitCast(uuid, to: (UInt32, UInt32, UInt32, UInt32).self)
      Self.write(UInt32(bigEndian: words.0), to: text, 0, 4)
      Self.write(UInt32(bigEndian: words.1), to: text, 9, 14)
      Self.write(UInt32(bigEndian: words.2), to: text, 19, 24)
      Self.write(UInt32(bigEndian: words.3), to: text, 28, 32)
      return 36
    }
  }

  private static func write(_ word: UInt32, to text: UnsafeMutableRawBufferPointer, _ high: Int, _ low: Int) {
    let digits = HexDigits.digits(of: word)
    text.storeBytes(of: UInt32(truncatingIfNeeded: digits).littleEndian, toByteOffset: high, as: UInt32.self)
    text.storeBytes(of: UInt32(truncatingIfNeeded: digits >> 32).littleEndian, toByteOffset: low, as: UInt32.self)
  }
}

/// Eight hexadecimal digits as the bytes of one word, the first in its lowest byte, which are computed together.
enum HexDigits {
  /// Times a byte, this is a word of eight of them.
  private static let each: UInt64 = 0x0101_0101_0101_0101
  private static let highestBits: UInt64 = 0x8080_8080_8080_8080
  private static let nibbles: UInt64 = 0x0F0F_0F0F_0F0F_0F0F

  /// The digits of a word, the highest first, in lower case.
  static func digits(of word: UInt32) -> UInt64 {
    // Makes room for the digits: half by half, then byte by byte, then digit by digit.
    var digits = UInt64(word.byteSwapped)
    digits = (digits | digits << 16) & 0x0000_FFFF_0000_FFFF
    digits = (digits | digits << 8) & 0x00FF_00FF_00FF_00FF
    digits = (digits >> 4 | digits << 8) & nibbles
    let areLetters = ((digits + 6 * each) >> 4) & each
    return digits + UInt64(UInt8(ascii: "0")) * each + areLetters * UInt64(UInt8(ascii: "a") - UInt8(ascii: "0") - 10)
  }

  /// The word that eight digits of either case stand for; nil when there is another character among them.
  static func word(of digits: UInt64) -> UInt32? {
    let lowercase = digits | (0x20 * each)
    let areLetters = areBytes(of: lowercase, between: UInt8(ascii: "a"), UInt8(ascii: "f"))
    let areDigits = areBytes(of: digits, between: UInt8(ascii: "0"), UInt8(ascii: "9"))
    guard digits & highestBits == 0, areLetters | areDigits == highestBits else { return nil }
    var word = (lowercase & nibbles) + (areLetters >> 7) * 9
    word = (word << 4 | word >> 8) & 0x00FF_00FF_00FF_00FF
    word = (word | word >> 8) & 0x0000_FFFF_0000_FFFF
    return UInt32(truncatingIfNeeded: word | word >> 16).byteSwapped
  }

  /// The highest bit of each byte says whether it is in the range. Only for ASCII.
  private static func areBytes(of bytes: UInt64, between low: UInt8, _ high: UInt8) -> UInt64 {
    (bytes &+ UInt64(0x80 - low) * each) & ~(bytes &+ UInt64(0x7F - high) * each) & highestBits
  }
}
