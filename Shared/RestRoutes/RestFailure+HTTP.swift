import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOFoundationCompat
import RestQueries
import Web
import Wire

extension RestFailure {
  /// The answer, with PostgREST's members and those of every other problem.
  package func response() -> Response {
    // `try?`: the body consists of strings and integers, which can always be encoded.
    let body = (try? JSON.encode(RestProblem(self, requestID: Trace.current?.requestID))) ?? Data()
    var headers: HTTPFields = [
      .contentType: Problem.contentType, .contentLength: String(body.count), .cacheControl: "no-store",
      .proxyStatus: proxyStatus,
    ]
    if status == 401 { headers[.wwwAuthenticate] = "Bearer" }
    if status == 503 { headers[.retryAfter] = "1" }
    return Response(
      status: .init(code: status), headers: headers, body: .init(byteBuffer: ByteBuffer(data: body)))
  }
}

/// The body of a failure that has PostgREST's or PostgreSQL's code: `code`, `message`, `details` and `hint` for
/// Supabase's clients, `error` for others, both beside the members of RFC 9457.
struct RestProblem: Encodable {
  struct Nested: Encodable {
    let code: String
    let message: String
    @NullCodable var details: String?
  }

  let type = "about:blank"
  let title: String
  let status: Int
  let detail: String
  let code: String
  let message: String
  @NullCodable var details: String?
  @NullCodable var hint: String?
  let request_id: String?
  let error: Nested

  init(_ failure: RestFailure, requestID: String?) {
    title = Problem.title(of: failure.status)
    status = failure.status
    detail = failure.message
    code = failure.code
    message = failure.message
    details = failure.details
    hint = failure.hint
    request_id = requestID
    error = Nested(code: failure.contractCode, message: failure.message, details: failure.details)
  }
}
