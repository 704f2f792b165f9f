import Foundation

/// The 512 bytes before a regular file in a tar archive (POSIX.1-1988, ustar).
struct TarHeader: Equatable {
  static let blockSize = 512

  let name: String
  let size: Int

  /// - Throws: ``BackupFailure`` when the name is longer than the 100 bytes that every reader knows.
  func bytes(modifiedAt seconds: Int) throws -> [UInt8] {
    guard name.utf8.count <= 100 else { throw BackupFailure("the name of a file is too long: \(name)") }
    var block = [UInt8](repeating: 0, count: Self.blockSize)
    func write(_ text: String, at offset: Int) {
      block.replaceSubrange(offset..<(offset + text.utf8.count), with: text.utf8)
    }
    write(name, at: 0)
    for (value, offset) in [(0o600, 100), (0, 108), (0, 116)] { write(Self.octal(value, digits: 7), at: offset) }
    block.replaceSubrange(124..<136, with: Self.size(size))
    write(Self.octal(seconds, digits: 11), at: 136)
    // While the checksum is computed, its field has spaces.
    write("        ", at: 148)
    write("0", at: 156)
    write("ustar\u{0}00", at: 257)
    let checksum = block.reduce(0) { $0 + Int($1) }
    write(Self.octal(checksum, digits: 6) + "\u{0} ", at: 148)
    return block
  }

  /// nil at the end of the archive.
  ///
  /// - Throws: ``BackupFailure`` for anything but the header of a regular file.
  init?(_ block: [UInt8]) throws {
    guard block.contains(where: { $0 != 0 }) else { return nil }
    let checksum = block.indices.reduce(0) { $0 + (148..<156 ~= $1 ? 32 : Int(block[$1])) }
    guard block.count == Self.blockSize, Self.octal(block[148..<156]) == checksum, block[156] == UInt8(ascii: "0"),
      let size = Self.size(block[124..<136])
    else { throw BackupFailure("it is damaged, or not a backup") }
    self.size = size
    name = String(decoding: block[0..<100].prefix { $0 != 0 }, as: UTF8.self)
  }

  init(name: String, size: Int) { (self.name, self.size) = (name, size) }

  private static func octal(_ value: Int, digits: Int) -> String {
    let text = String(value, radix: 8)
    return String(repeating: "0", count: max(digits - text.count, 0)) + text
  }

  private static func octal(_ field: ArraySlice<UInt8>) -> Int? {
    Int(String(decoding: field.prefix { $0 != 0 && $0 != UInt8(ascii: " ") }, as: UTF8.self), radix: 8)
  }

  /// From 8 GB on the size is binary, which tar and libarchive read.
  private static func size(_ value: Int) -> [UInt8] {
    guard value >= 1 << 33 else { return Array("\(octal(value, digits: 11))\u{0}".utf8) }
    return [0x80, 0, 0, 0] + (0..<8).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
  }

  private static func size(_ field: ArraySlice<UInt8>) -> Int? {
    guard field.first == 0x80 else { return octal(field) }
    let bytes = field.dropFirst(4)
    guard field.dropFirst().prefix(3).allSatisfy({ $0 == 0 }), bytes.first.map({ $0 < 0x80 }) == true else {
      return nil
    }
    return bytes.reduce(0) { $0 << 8 | Int($1) }
  }
}
