import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import Wire

/// An answer that the gateway gives by itself.
struct LocalAnswer: Sendable {
  typealias Question = @Sendable () async -> LocalAnswer

  let status: HTTPResponseStatus
  let headers: HTTPHeaders
  let body: ByteBuffer

  init(_ status: HTTPResponseStatus, json body: Data) {
    self.status = status
    self.headers = ["content-type": "application/json"]
    self.body = ByteBuffer(data: body)
  }

  init(_ failure: Failure, as dialect: Dialect, requestID: String) {
    let problem = Problem(failure, as: dialect, requestID: requestID)
    var headers: HTTPHeaders = ["content-type": Problem.contentType]
    if failure.kind == .unauthorized { headers.add(name: "www-authenticate", value: "Bearer") }
    if let seconds = failure.retryAfterSeconds { headers.add(name: "retry-after", value: String(seconds)) }
    if !failure.allow.isEmpty { headers.add(name: "allow", value: failure.allow.joined(separator: ", ")) }
    self.status = HTTPResponseStatus(statusCode: problem.status)
    self.headers = headers
    // `try?`: a problem is made of text and numbers, which JSON can always hold.
    self.body = ByteBuffer(data: (try? JSON.encode(problem)) ?? Data())
  }
}

extension Failure {
  static let upstreamBroke = Failure(
    .badGateway, "bad_gateway", "The service broke off; it may or may not have done what was asked.")
}
