import Foundation

/// A failure as it is sent: the one place where status, headers and body of an error are put together, for services and
/// for the gateway.
package struct FailureAnswer: Sendable {
  package let status: Int
  /// In lower case, `content-type` among them.
  package private(set) var headers: [(name: String, value: String)]
  package let body: Data

  /// - Parameter version: what a call to `/auth/v1` names as the version of its API; the body is GoTrue's alone then.
  package init(_ failure: Failure, as dialect: Dialect, version: GoTrueVersion? = nil, requestID: String) {
    let problem = Problem(failure, as: dialect, requestID: requestID)
    status = problem.status
    let version = dialect == .goTrue ? version : nil
    headers = [("content-type", version == nil ? Problem.contentType : GoTrueError.contentType)]
    // Some statuses may be kept unless it is forbidden (RFC 9110 §15.1), and what is refused now may be there later.
    headers.append(("cache-control", "no-store"))
    if failure.kind == .unauthorized { headers.append(("www-authenticate", "Bearer")) }
    if let seconds = failure.retryAfterSeconds { headers.append(("retry-after", String(seconds))) }
    if !failure.allow.isEmpty { headers.append(("allow", failure.allow.joined(separator: ", "))) }
    if dialect == .goTrue { headers.append((GoTrueError.codeHeader, problem.code)) }
    if let version { headers.append((GoTrueVersion.header, version.text)) }
    // `try?`: what is said of a failure is made of text and numbers, which JSON can always hold.
    body = (try? version == nil ? JSON.encode(problem) : JSON.encode(GoTrueError(failure))) ?? Data()
  }
}

/// What calls to `/auth/v1` send as `X-Supabase-Api-Version`: a date.
package struct GoTrueVersion: Sendable, Hashable {
  package static let header = "x-supabase-api-version"

  package let text: String

  /// nil for what is no date.
  package init?(_ text: String) {
    let isDate = text.utf8.count == 10 && text.wholeMatch(of: /[0-9]{4}-[0-9]{2}-[0-9]{2}/) != nil
    guard isDate else { return nil }
    self.text = text
  }
}

/// An error as GoTrue writes it, and nothing more: Supabase's libraries cannot read an answer one of whose members has
/// another type than they expect.
package struct GoTrueError: Encodable, Sendable {
  package static let contentType = "application/json"
  package static let codeHeader = "x-sb-error-code"

  let code: String
  let message: String
  let weak_password: WeakPassword?

  package init(_ failure: Failure) {
    code = Dialect.goTrue.code(of: failure)
    message = failure.message
    weak_password = WeakPassword(failure)
  }
}

/// Why a password will not do, in GoTrue's words: `length`, `characters`, `pwned`.
struct WeakPassword: Encodable, Sendable {
  let reasons: [String]

  init?(_ failure: Failure) {
    guard !failure.reasons.isEmpty else { return nil }
    reasons = failure.reasons
  }
}
