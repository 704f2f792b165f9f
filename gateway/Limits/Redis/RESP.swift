import NIOCore
import Web

/// A reply in the Redis serialization protocol, version 2.
package enum RESP: Sendable, Equatable {
  case simple(String)
  case error(String)
  case integer(Int64)
  case bulk([UInt8])
  case array([RESP])
  case null
}

/// Thrown for bytes that are not RESP, and for replies larger than any that is expected.
package struct MalformedRESP: Error {
  package init() {}
}

/// Parses replies from bytes as they arrive. Anything that two programs could interpret differently is malformed.
package struct RESPReader: Sendable {
  private var buffer = ByteBuffer()
  private static let types = Array("+-:$*".utf8)
  private static let lineBytesMax = 4096
  private static let bulkBytesMax = 4096
  private static let elementsMax: Int64 = 16
  private static let depthMax = 2
  /// For one reply, because an incomplete reply is parsed again when more bytes arrive.
  private static let replyBytesMax = 16 * 1024

  package init() {}

  package mutating func add(_ bytes: ByteBuffer) {
    guard buffer.readableBytes > 0 else { return buffer = bytes }
    buffer.writeImmutableBuffer(bytes)
  }

  /// - Returns: nil when more bytes are needed.
  package mutating func next() throws(MalformedRESP) -> RESP? {
    var index = 0
    guard let reply = try Self.read(buffer.readableBytesUInt8Span, &index, depth: 0) else {
      guard buffer.readableBytes <= Self.replyBytesMax else { throw MalformedRESP() }
      return nil
    }
    buffer.moveReaderIndex(forwardBy: index)
    return reply
  }

  private static func read(_ bytes: Span<UInt8>, _ index: inout Int, depth: Int) throws(MalformedRESP) -> RESP? {
    guard index < bytes.count else { return nil }
    let type = bytes[index]
    guard types.contains(type) else { throw MalformedRESP() }
    index += 1
    guard let line = try line(bytes, &index) else { return nil }
    switch type {
    case UInt8(ascii: "+"): return .simple(text(bytes, line))
    case UInt8(ascii: "-"): return .error(text(bytes, line))
    case UInt8(ascii: ":"): return .integer(try integer(bytes, line))
    case UInt8(ascii: "$"): return try bulk(bytes, &index, length: try integer(bytes, line))
    case UInt8(ascii: "*"):
      guard depth < depthMax else { throw MalformedRESP() }
      return try array(bytes, &index, count: try integer(bytes, line), depth: depth + 1)
    default: throw MalformedRESP()
    }
  }

  /// The bytes up to a CRLF. Advances `index` past the CRLF.
  private static func line(_ bytes: Span<UInt8>, _ index: inout Int) throws(MalformedRESP) -> Range<Int>? {
    let start = index
    while index < bytes.count {
      guard index - start <= lineBytesMax, bytes[index] != UInt8(ascii: "\n") else { throw MalformedRESP() }
      if bytes[index] == UInt8(ascii: "\r") {
        guard index + 1 < bytes.count else { return nil }
        guard bytes[index + 1] == UInt8(ascii: "\n") else { throw MalformedRESP() }
        defer { index += 2 }
        return start..<index
      }
      index += 1
    }
    return nil
  }

  private static func bulk(
    _ bytes: Span<UInt8>, _ index: inout Int, length: Int64
  ) throws(MalformedRESP) -> RESP? {
    guard length != -1 else { return .null }
    guard let length = Int(exactly: length), (0...bulkBytesMax).contains(length) else { throw MalformedRESP() }
    let end = index + length
    for (offset, expected) in [UInt8(ascii: "\r"), UInt8(ascii: "\n")].enumerated() {
      guard end + offset < bytes.count else { return nil }
      guard bytes[end + offset] == expected else { throw MalformedRESP() }
    }
    defer { index = end + 2 }
    return .bulk(copy(bytes, index..<end))
  }

  private static func array(
    _ bytes: Span<UInt8>, _ index: inout Int, count: Int64, depth: Int
  ) throws(MalformedRESP) -> RESP? {
    guard count != -1 else { return .null }
    guard (0...elementsMax).contains(count) else { throw MalformedRESP() }
    var elements: [RESP] = []
    for _ in 0..<count {
      guard let element = try read(bytes, &index, depth: depth) else { return nil }
      elements.append(element)
    }
    return .array(elements)
  }

  /// Digits with an optional minus sign; no plus sign, no leading zeros, at most 64 bits.
  private static func integer(_ bytes: Span<UInt8>, _ line: Range<Int>) throws(MalformedRESP) -> Int64 {
    let text = text(bytes, line)
    guard let number = Int64(text), String(number) == text else { throw MalformedRESP() }
    return number
  }

  private static func text(_ bytes: Span<UInt8>, _ range: Range<Int>) -> String {
    String(decoding: copy(bytes, range), as: UTF8.self)
  }

  private static func copy(_ bytes: Span<UInt8>, _ range: Range<Int>) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: range.count) { copy, count in
      for index in range {
        copy.initializeElement(at: count, to: bytes[index])
        count += 1
      }
    }
  }
}

extension ByteBuffer {
  /// A command as an array of bulk strings.
  mutating func writeCommand(_ arguments: String...) {
    writeStaticString("*")
    writeDecimal(arguments.count)
    writeStaticString("\r\n")
    for argument in arguments { writeBulk(argument) }
  }

  /// A bulk string.
  mutating func writeBulk(_ text: String) {
    writeStaticString("$")
    writeDecimal(text.utf8.count)
    writeStaticString("\r\n")
    writeString(text)
    writeStaticString("\r\n")
  }
}
