import StrictHTTP
import Wire

extension Failure {
  /// The failure for bytes that are no request.
  package init(_ error: HTTPParseError) {
    switch error {
    case .malformed: self = .malformedRequest
    case .unknownMethod: self = .methodNotAllowed(allow: RequestHead.Method.allCases.map(\.rawValue).sorted())
    case .unsupportedVersion:
      self = Failure(.versionUnsupported, "http_version_not_supported", "HTTP/1.1 is spoken here.")
    case .targetTooLong: self = Failure(.targetTooLong, "uri_too_long", "The path and query are too long.")
    case .headTooLarge: self = Failure(.headTooLarge, "headers_too_large", "The request has too many headers.")
    case .unexpectedExpectation:
      self = Failure(.expectation, "expectation_failed", "Only 100-continue can be expected.")
    }
  }

  package static let malformedRequest = Failure(
    .malformed, "malformed_request", "This is not a request that can be served.")
}
