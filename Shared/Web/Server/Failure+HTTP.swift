import Database
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOFoundationCompat
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
  package static let goTrueVersion = Self(GoTrueVersion.header)!
}

extension Failure {
  /// The failure that a client gets for an error. A `Failure` is passed on; every other error is logged in full and
  /// becomes a bare 500, or 503 where a retry may succeed.
  package init(describing error: any Error, logger: Logger) {
    switch error {
    case let failure as Failure: self = failure
    case DatabaseFailure.nulInText:
      self = .invalid([.init("body", "must not contain the character U+0000")])
    case let failure as DatabaseFailure where failure.isTransient:
      logger.error("database unavailable", metadata: ["error": "\(failure)"])
      self = .unavailable
    case is DeadlineExceeded: self = .gatewayTimeout
    case is CancellationError: self = .unavailable
    case is IncompleteRequest: self = .malformedRequest
    default:
      logger.error("unexpected error", metadata: ["error": "\(String(reflecting: error))"])
      self = .broken
    }
  }

  /// The response for a failure, in the dialect of the request's path. Services make error responses nowhere else.
  package func response(to request: Request, requestID: String) -> Response {
    let version = request.headers[.goTrueVersion].flatMap { GoTrueVersion($0) }
    let content = FailureResponse(self, as: APIDialect(path: request.uri.path), version: version, requestID: requestID)
    var headers = HTTPFields()
    for (name, value) in content.headers {
      if let name = HTTPField.Name(name) { headers[name] = value }
    }
    headers[.contentLength] = String(content.body.count)
    return Response(
      status: .init(code: content.status), headers: headers, body: .init(byteBuffer: ByteBuffer(data: content.body)))
  }
}
