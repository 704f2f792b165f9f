import Foundation
import NIOCore
import Wire

/// Parses form data while it arrives (RFC 7578). It buffers no more than what may be the beginning of the next
/// boundary.
struct MultipartReader {
  enum Event: Equatable {
    case partBegan(name: String)
    case partBytes(ByteBuffer)
    case partEnded
    case ended
  }

  private enum State { case preamble, afterBoundary, headers, content, done }

  private let delimiter: [UInt8]
  private var state = State.preamble
  private var pending = ByteBuffer()
  private var partCount = 0

  static let headerBytesMax = 8 * 1024
  static let partsMax = 16

  /// Returns nil unless the content type is form data with a boundary (RFC 2046 §5.1.1).
  init?(contentType: String) {
    let parts = contentType.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
    guard parts.first?.lowercased() == "multipart/form-data",
      let parameter = parts.dropFirst().first(where: { $0.lowercased().hasPrefix("boundary=") })
    else { return nil }
    let boundary = parameter.dropFirst("boundary=".count).trimmingCharacters(in: ["\""])
    guard (1...70).contains(boundary.utf8.count) else { return nil }
    delimiter = Array("\r\n--\(boundary)".utf8)
    // The first boundary may be at the beginning of the body, without a line break before it.
    pending.writeStaticString("\r\n")
  }

  mutating func append(_ buffer: ByteBuffer) {
    pending.discardReadBytes()
    pending.writeImmutableBuffer(buffer)
  }

  /// The next event; nil when more input is needed.
  ///
  /// - Throws: 400 for invalid form data.
  mutating func next() throws(Failure) -> Event? {
    while true {
      switch state {
      case .preamble:
        guard skipPreamble() else { return nil }
      case .afterBoundary:
        guard let isLast = try endOfBoundary() else { return nil }
        state = isLast ? .done : .headers
        if isLast { return .ended }
      case .headers:
        guard let name = try partName() else { return nil }
        state = .content
        return .partBegan(name: name)
      case .content: return content()
      case .done:
        pending.clear()
        return nil
      }
    }
  }

  /// The text of one field of a complete form; nil when there is no such field.
  mutating func field(_ name: String, of form: ByteBuffer) throws(Failure) -> String? {
    append(form)
    var value: String?
    var isWanted = false
    while let event = try next() {
      switch event {
      case .partBegan(let part):
        isWanted = part == name
        if isWanted { value = "" }
      case .partBytes(let bytes) where isWanted: value? += String(buffer: bytes)
      default: break
      }
    }
    return value
  }

  private mutating func skipPreamble() -> Bool {
    guard let index = index(of: delimiter) else {
      pending.moveReaderIndex(forwardBy: max(0, pending.readableBytes - delimiter.count + 1))
      return false
    }
    pending.moveReaderIndex(forwardBy: index + delimiter.count)
    state = .afterBoundary
    return true
  }

  private mutating func content() -> Event? {
    if let index = index(of: delimiter) {
      if index > 0 { return pending.readSlice(length: index).map(Event.partBytes) }
      pending.moveReaderIndex(forwardBy: delimiter.count)
      state = .afterBoundary
      return .partEnded
    }
    let certain = pending.readableBytes - delimiter.count + 1
    guard certain > 0 else { return nil }
    return pending.readSlice(length: certain).map(Event.partBytes)
  }

  /// Whether the boundary was the last one, which two hyphens follow; nil when more input is needed.
  private mutating func endOfBoundary() throws(Failure) -> Bool? {
    guard pending.readableBytes >= 2 else { return nil }
    if pending.readableBytesView.starts(with: "--".utf8) { return true }
    guard let index = index(of: Array("\r\n".utf8)) else {
      guard pending.readableBytes < 256 else { throw .formMalformed }
      return nil
    }
    guard pending.readableBytesView.prefix(index).allSatisfy({ $0 == 0x20 || $0 == 0x09 }) else {
      throw .formMalformed
    }
    // The line break stays in the buffer: headers end with an empty line, and a part may have no headers.
    pending.moveReaderIndex(forwardBy: index)
    return false
  }

  private mutating func partName() throws(Failure) -> String? {
    guard let length = index(of: Array("\r\n\r\n".utf8)) else {
      guard pending.readableBytes <= Self.headerBytesMax else { throw .formMalformed }
      return nil
    }
    partCount += 1
    guard length <= Self.headerBytesMax, partCount <= Self.partsMax, let text = pending.readString(length: length)
    else { throw .formMalformed }
    pending.moveReaderIndex(forwardBy: 4)
    let line = text.split(separator: "\r\n").first { $0.lowercased().hasPrefix("content-disposition:") }
    guard let match = line?.firstMatch(of: /[;\s]name="?([^";]*)"?/.ignoresCase()) else { throw .formMalformed }
    return String(match.1)
  }

  private func index(of bytes: [UInt8]) -> Int? {
    pending.withUnsafeReadableBytes { readable in
      guard let base = readable.baseAddress, let first = bytes.first else { return nil }
      var index = 0
      while index + bytes.count <= readable.count,
        let found = memchr(base + index, CInt(first), readable.count - bytes.count + 1 - index)
      {
        if memcmp(found, bytes, bytes.count) == 0 { return UnsafeRawPointer(found) - base }
        index = UnsafeRawPointer(found) - base + 1
      }
      return nil
    }
  }
}

extension Failure {
  static let formMalformed = Failure(.malformed, "malformed_form", "The body is not valid form data.")
}
