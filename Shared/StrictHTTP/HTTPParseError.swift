/// Why bytes are not a message that may be forwarded. After such an error the position of the next message on the
/// connection is unknown, so the connection has to be closed.
package enum HTTPParseError: Error, Sendable, Hashable, CaseIterable {
  case malformed
  case unknownMethod
  case unsupportedVersion
  case targetTooLong
  case headTooLarge
  case unexpectedExpectation

  /// RFC 9110 §15.
  package var status: Int {
    switch self {
    case .malformed: 400
    case .unknownMethod: 405
    case .targetTooLong: 414
    case .unexpectedExpectation: 417
    case .headTooLarge: 431
    case .unsupportedVersion: 505
    }
  }
}
