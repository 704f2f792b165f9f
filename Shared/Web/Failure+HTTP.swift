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

  /// The one place where a failure becomes an answer, in the words of whoever called.
  package func response(to request: Request, requestID: String) -> Response {
    let version = request.headers[.goTrueVersion].flatMap { GoTrueVersion($0) }
    let answer = FailureAnswer(self, as: Dialect(path: request.uri.path), version: version, requestID: requestID)
    var headers = HTTPFields()
    for (name, value) in answer.headers {
      if let name = HTTPField.Name(name) { headers[name] = value }
    }
    headers[.contentLength] = String(answer.body.count)
    return Response(
      status: .init(code: answer.status), headers: headers, body: .init(byteBuffer: ByteBuffer(data: answer.body)))
  }
}
