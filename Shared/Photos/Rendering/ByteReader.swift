import Foundation
import Wire

/// Reads a part of an ISO base media file (ISO/IEC 14496-12 §4.2), never past its end. Numbers are big-endian.
struct ByteReader {
  let bytes: UnsafeRawBufferPointer
  private(set) var range: Range<Int>

  init(_ bytes: UnsafeRawBufferPointer) {
    self.bytes = bytes
    range = 0..<bytes.count
  }

  var isAtEnd: Bool { range.isEmpty }

  /// A number of at most eight bytes.
  mutating func number(_ length: Int) throws(Failure) -> Int {
    guard length <= 8 else { throw .photoUnreadable }
    let part = try part(length)
    let number = bytes[part.range].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    guard let number = Int(exactly: number) else { throw .photoUnreadable }
    return number
  }

  mutating func text(_ length: Int) throws(Failure) -> String {
    String(decoding: bytes[try part(length).range], as: UTF8.self)
  }

  /// A reader of the next bytes.
  mutating func part(_ length: Int) throws(Failure) -> ByteReader {
    guard length >= 0, length <= range.count else { throw .photoUnreadable }
    var part = self
    part.range = range.lowerBound..<range.lowerBound + length
    range = part.range.upperBound..<range.upperBound
    return part
  }

  mutating func box() throws(Failure) -> (type: String, content: ByteReader) {
    var length = try number(4)
    let type = try text(4)
    var headerLength = 8
    if length == 1 { (length, headerLength) = (try number(8), 16) }
    if length == 0 { return (type, try part(range.count)) }
    return (type, try part(length - headerLength))
  }

  /// All boxes up to the end.
  func boxes() throws(Failure) -> [(type: String, content: ByteReader)] {
    var (rest, boxes) = (self, [(type: String, content: ByteReader)]())
    while !rest.isAtEnd { boxes.append(try rest.box()) }
    return boxes
  }

  /// The version and the flags with which many boxes begin.
  mutating func version() throws(Failure) -> (version: Int, flags: Int) { (try number(1), try number(3)) }
}
