/// The error of a request, the only error type that is sent between processes.
///
/// A service throws it, `BoundaryMiddleware` encodes it as a ``Problem``, and a client decodes that to the same value.
package struct Failure: Error, Hashable, Sendable {
  /// The kinds of errors. ``APIDialect/status(of:)`` maps them to HTTP statuses.
  package enum Kind: String, Codable, Sendable, CaseIterable {
    case malformed, invalid, unauthorized, paymentRequired, forbidden, notFound, methodNotAllowed, timeout
    case conflict, gone, preconditionFailed, tooLarge, targetTooLong, unsupportedType, expectation, unsatisfiable
    case unprocessable, upgradeRequired, limited, headTooLarge
    case broken, notImplemented, badGateway, unavailable, gatewayTimeout, versionUnsupported
  }

  /// An invalid field of a body. `field` is the wire name, with dots for nested objects.
  package struct Field: Codable, Hashable, Sendable {
    package let field: String
    package let message: String

    package init(_ field: String, _ message: String) {
      self.field = field
      self.message = message
    }
  }

  package let kind: Kind
  /// Stable and machine-readable, in snake case. Apps may depend on it.
  package let code: String
  /// Human-readable; never contains a secret or personal data.
  package let message: String
  package var fields: [Field] = []
  /// Always set when `kind` is `unavailable`.
  package var retryAfterSeconds: Int?
  /// Why a password is too weak, with GoTrue's names: `length`, `characters`, `pwned`.
  package var reasons: [String] = []
  /// The methods that the path has, for 405.
  package var allow: [String] = []

  package init(_ kind: Kind, _ code: String, _ message: String, retryAfterSeconds: Int? = nil) {
    self.kind = kind
    self.code = code
    self.message = message
    self.retryAfterSeconds = retryAfterSeconds ?? (kind == .unavailable ? 1 : nil)
  }
}

extension Failure {
  /// Whether the error is on the server's side and independent of the request.
  package var isServerFault: Bool {
    switch kind {
    case .broken, .badGateway, .unavailable, .gatewayTimeout: true
    default: false
    }
  }

  /// One failure for all invalid fields of a body. The message is that of the first.
  package static func invalid(_ fields: Field...) -> Failure { invalid(fields) }

  package static func invalid(_ fields: [Field]) -> Failure {
    let message = fields.first.map { "\($0.field) \($0.message)" } ?? "The request is not valid."
    var failure = Failure(.invalid, "validation_error", message)
    failure.fields = fields
    return failure
  }

  package static func methodNotAllowed(allow: [String]) -> Failure {
    var failure = Failure(.methodNotAllowed, "method_not_allowed", "This path does not have that method.")
    failure.allow = allow
    return failure
  }

  package static let malformed = Failure(.malformed, "malformed_json", "The body is not valid JSON.")
  package static let unauthorized = Failure(.unauthorized, "unauthorized", "Sign in to continue.")
  package static let forbidden = Failure(.forbidden, "forbidden", "You may not do that.")
  package static let notFound = Failure(.notFound, "not_found", "There is nothing here.")
  package static let tooLarge = Failure(.tooLarge, "body_too_large", "The body is larger than this route takes.")
  package static let unsupportedType = Failure(
    .unsupportedType, "unsupported_media_type", "Send the body as application/json.")
  package static let timeout = Failure(.timeout, "request_timeout", "The request took too long to arrive.")
  package static let broken = Failure(.broken, "internal_error", "Something went wrong on our side.")
  package static let unavailable = Failure(
    .unavailable, "service_unavailable", "This part of the service is not available at the moment.")
  package static let gatewayTimeout = Failure(
    .gatewayTimeout, "gateway_timeout", "The service did not answer in time.", retryAfterSeconds: 1)
}
