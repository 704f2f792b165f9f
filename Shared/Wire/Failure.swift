/// Why a request cannot be answered as asked: the one error type that crosses processes.
///
/// A service throws it, the edge turns it into a ``Problem``, a client turns that back into the same value.
package struct Failure: Error, Hashable, Sendable {
  /// The closed set of reasons. HTTP statuses are chosen from it in one place, ``Dialect/status(of:)``.
  package enum Kind: String, Codable, Sendable, CaseIterable {
    case malformed, invalid, unauthorized, paymentRequired, forbidden, notFound, methodNotAllowed, timeout
    case conflict, gone, preconditionFailed, tooLarge, targetTooLong, unsupportedType, expectation, unsatisfiable
    case unprocessable, limited, headTooLarge
    case broken, notImplemented, badGateway, unavailable, gatewayTimeout, versionUnsupported
  }

  /// One field of a body that is not as it should be; `field` is the wire name, with dots into nested objects.
  package struct Field: Codable, Hashable, Sendable {
    package let field: String
    package let message: String

    package init(_ field: String, _ message: String) {
      self.field = field
      self.message = message
    }
  }

  package let kind: Kind
  /// Stable and machine readable, in lower snake case. Apps may switch on it.
  package let code: String
  /// For a person; never holds a secret or personal data.
  package let message: String
  package var fields: [Field] = []
  /// Never nil of what is unavailable.
  package var retryAfterSeconds: Int?
  /// Why a password is too weak, in GoTrue's words: `length`, `characters`, `pwned`.
  package var reasons: [String] = []
  /// The methods that a path has, for 405.
  package var allow: [String] = []

  package init(_ kind: Kind, _ code: String, _ message: String, retryAfterSeconds: Int? = nil) {
    self.kind = kind
    self.code = code
    self.message = message
    self.retryAfterSeconds = retryAfterSeconds ?? (kind == .unavailable ? 1 : nil)
  }
}

extension Failure {
  /// Trouble on our side: nothing that the caller could have done better.
  package var isOurs: Bool {
    switch kind {
    case .broken, .badGateway, .unavailable, .gatewayTimeout: true
    default: false
    }
  }

  /// What the fields of a body did wrong, as one failure.
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
