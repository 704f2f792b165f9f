/// Why bytes are not a message that can be passed on. After a refusal nothing that follows on the connection can be
/// trusted to begin where it seems to.
package enum Refusal: Error, Sendable, Hashable, CaseIterable {
  case malformed
  case unknownMethod
  case unsupportedVersion
  case targetTooLong
  case headTooLarge
  case unexpectedExpectation
  case webSocket

  /// RFC 9110 §15.
  package var status: Int {
    switch self {
    case .malformed: 400
    case .unknownMethod: 405
    case .targetTooLong: 414
    case .unexpectedExpectation: 417
    case .headTooLarge: 431
    case .webSocket: 501
    case .unsupportedVersion: 505
    }
  }
}

/// What a message may weigh.
package enum Limits {
  package static let headBytesMax = 16 * 1024
  package static let targetBytesMax = 8 * 1024
  package static let fieldsMax = 64
  package static let fieldNameBytesMax = 64
  package static let methodBytesMax = 16
}

/// A run of bytes in a head, counted from the head's first byte.
package struct Slice: Sendable, Hashable {
  private let first: UInt16
  private let length: UInt16

  /// Heads end at 16 KB, so both fit; what does not is cut, never a trap.
  init(_ start: Int, _ end: Int) {
    first = UInt16(clamping: start)
    length = UInt16(clamping: end - start)
  }

  package var start: Int { Int(first) }
  package var count: Int { Int(length) }
  package var end: Int { start + count }
}
