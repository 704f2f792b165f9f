import Database
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import Wire

extension HTTPField.Name {
  // `!`: the names are constants that are valid tokens.
  package static let serviceKey = Self(Header.serviceKey)!
  package static let serviceName = Self(Header.serviceName)!
  package static let userID = Self(Header.userID)!
  package static let sessionID = Self(Header.sessionID)!
  package static let requestID = Self(Header.requestID)!
  package static let traceparent = Self(Header.traceparent)!
  static let tracestate = Self(Header.tracestate)!
  package static let adminKey = Self(Header.adminKey)!
  package static let idempotencyKey = Self(Header.idempotencyKey)!
  package static let idempotencyHit = Self(Header.idempotencyHit)!
  package static let endedSessions = Self(Header.endedSessions)!
  static let timeout = Self(Header.timeout)!
  package static let forwardedFor = Self("x-forwarded-for")!
}

extension Failure {
  /// What a client is told of an error. Only a `Failure` speaks for itself; the rest is a bare 500, or 503 where trying
  /// again makes sense, and is logged whole.
  package init(describing error: any Error, logger: Logger) {
    switch error {
    case let failure as Failure: self = failure
    case DatabaseFailure.nulInText:
      self = .invalid([.init("body", "must not contain the character U+0000")])
    case let failure as DatabaseFailure where failure.isPassing:
      logger.error("database unavailable", metadata: ["error": "\(failure)"])
      self = .unavailable
    case is DeadlinePassed: self = .gatewayTimeout
    case is CancellationError: self = .unavailable
    default:
      logger.error("unexpected error", metadata: ["error": "\(String(reflecting: error))"])
      self = .broken
    }
  }

  /// The one place where a failure becomes an answer.
  package func response(as dialect: Dialect, requestID: String) -> Response {
    let problem = Problem(self, as: dialect, requestID: requestID)
    var response = Response.json(problem, status: .init(code: problem.status))
    response.headers[.contentType] = Problem.contentType
    // Some statuses may be kept unless it is forbidden (RFC 9110 §15.1), and what is refused now may be there later.
    response.headers[.cacheControl] = "no-store"
    if kind == .unauthorized { response.headers[.wwwAuthenticate] = "Bearer" }
    if let retryAfterSeconds { response.headers[.retryAfter] = String(retryAfterSeconds) }
    if !allow.isEmpty { response.headers[.allow] = allow.joined(separator: ", ") }
    return response
  }
}
