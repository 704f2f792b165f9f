import Foundation

/// Status, headers and body of an error response, for the services and the gateway. Error responses are made nowhere
/// else.
package struct FailureResponse: Sendable {
  package let status: Int
  /// With lower-case names, including `content-type`.
  package private(set) var headers: [(name: String, value: String)]
  package let body: Data

  /// - Parameter version: the API version that a request to `/auth/v1` asks for; the body is then only GoTrue's.
  package init(_ failure: Failure, as dialect: APIDialect, version: GoTrueVersion? = nil, requestID: String) {
    let problem = Problem(failure, as: dialect, requestID: requestID)
    status = problem.status
    let version = dialect == .goTrue ? version : nil
    headers = [("content-type", version == nil ? Problem.contentType : GoTrueError.contentType)]
    // Some statuses are cacheable by default (RFC 9110 §15.1), but the error may be gone at the next request.
    headers.append(("cache-control", "no-store"))
    if failure.kind == .unauthorized { headers.append(("www-authenticate", "Bearer")) }
    if let seconds = failure.retryAfterSeconds { headers.append(("retry-after", String(seconds))) }
    if !failure.allow.isEmpty { headers.append(("allow", failure.allow.joined(separator: ", "))) }
    if failure.kind == .upgradeRequired {
      // RFC 6455 §4.4, RFC 9110 §15.5.22.
      headers += [("upgrade", "websocket"), ("connection", "Upgrade"), ("sec-websocket-version", "13")]
    }
    if dialect == .goTrue { headers.append((GoTrueError.codeHeader, problem.code)) }
    // RFC 9209: what Supabase's clients read when there is no body, as in an answer to HEAD.
    if dialect.isPostgREST { headers.append(("proxy-status", "PostgREST; error=\(problem.code)")) }
    if let version { headers.append((GoTrueVersion.header, version.text)) }
    // `try?`: the bodies consist of strings and integers, which can always be encoded.
    body = (try? version == nil ? JSON.encode(problem) : JSON.encode(GoTrueError(failure))) ?? Data()
  }
}

/// The API version that requests to `/auth/v1` send as `X-Supabase-Api-Version`: a date.
package struct GoTrueVersion: Sendable, Hashable {
  package static let header = "x-supabase-api-version"

  package let text: String

  /// nil for text that is not a date.
  package init?(_ text: String) {
    let isDate = text.utf8.count == 10 && text.wholeMatch(of: /[0-9]{4}-[0-9]{2}-[0-9]{2}/) != nil
    guard isDate else { return nil }
    self.text = text
  }
}

/// An error in GoTrue's format without further members: Supabase's libraries cannot decode a body in which a member has
/// an unexpected type.
package struct GoTrueError: Encodable, Sendable {
  package static let contentType = "application/json"
  package static let codeHeader = "x-sb-error-code"

  let code: String
  let message: String
  let weak_password: WeakPassword?

  package init(_ failure: Failure) {
    code = APIDialect.goTrue.code(of: failure)
    message = failure.message
    weak_password = WeakPassword(failure)
  }
}

/// Why a password is too weak, with GoTrue's names: `length`, `characters`, `pwned`.
struct WeakPassword: Encodable, Sendable {
  let reasons: [String]

  init?(_ failure: Failure) {
    guard !failure.reasons.isEmpty else { return nil }
    reasons = failure.reasons
  }
}
