import Foundation
import Hummingbird
import RestQueries
import Web
import Wire

extension RestFailure {
  /// The answer, with PostgREST's members and those of every other problem.
  package func response() -> Response { Response(answer()) }

  func answer() -> RestAnswer {
    // `try?`: the body consists of strings and integers, which can always be encoded.
    let body = (try? JSON.encode(RestProblem(self, requestID: Trace.current?.requestID))) ?? Data()
    var headers = [
      (name: "content-type", value: Problem.contentType), ("cache-control", "no-store"), ("proxy-status", proxyStatus),
    ]
    if status == 401 { headers.append(("www-authenticate", "Bearer")) }
    if status == 503 { headers.append(("retry-after", "1")) }
    return RestAnswer(status: status, headers: headers, body: Array(body))
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
