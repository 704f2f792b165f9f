import Foundation

/// The body of every error: `application/problem+json` (RFC 9457) with the further members that the apps read.
///
/// `hint` is always null. `error.details` is always present, null without invalid fields.
package struct Problem: Codable, Sendable {
  package let title: String
  package let status: Int
  package let detail: String
  package let code: String
  package let requestID: String?
  package let fields: [Failure.Field]
  let nestedCode: String
  let dialect: APIDialect?
  private let rateLimit: RateLimit?
  let weakPassword: WeakPassword?

  package static let contentType = "application/problem+json"

  /// The details of a 429 that the app with lists reads.
  private struct RateLimit {
    let retryAfterSeconds: Int
    let timestamp: Date
  }

  /// - Parameter now: when the request was refused.
  package init(_ failure: Failure, as dialect: APIDialect, requestID: String?, at now: Date = Date()) {
    self.status = dialect.status(of: failure)
    self.title = Self.title(of: status)
    self.detail = dialect.message(of: failure)
    self.code = dialect.code(of: failure)
    self.nestedCode = dialect.nestedCode(of: failure)
    self.requestID = requestID
    self.fields = failure.fields
    self.dialect = dialect
    let hasRateLimit = failure.kind == .limited && (dialect == .api || dialect == .plain)
    self.rateLimit = hasRateLimit ? RateLimit(retryAfterSeconds: failure.retryAfterSeconds ?? 1, timestamp: now) : nil
    self.weakPassword = dialect == .goTrue ? WeakPassword(failure) : nil
  }

  private enum Key: String, CodingKey {
    case statusCode, type, title, status, detail, code, message, details, hint, errors, error, msg
    case requestID = "request_id"
    case errorCode = "error_code"
    case weakPassword = "weak_password"
  }

  private enum NestedKey: String, CodingKey {
    case code, message, details, status, timestamp
    case retryAfter = "retry_after"
  }

  package func encode(to encoder: any Encoder) throws {
    var body = encoder.container(keyedBy: Key.self)
    try body.encode("about:blank", forKey: .type)
    try body.encode(title, forKey: .title)
    try body.encode(status, forKey: .status)
    try body.encode(detail, forKey: .detail)
    try body.encode(code, forKey: .code)
    try body.encode(detail, forKey: .message)
    try body.encodeNil(forKey: .hint)
    if dialect?.isPostgREST ?? false { try body.encode(NullCodable(wrappedValue: detailsText), forKey: .details) }
    try body.encodeIfPresent(requestID, forKey: .requestID)
    if !fields.isEmpty { try body.encode(fields, forKey: .errors) }
    if dialect == .goTrue {
      try body.encode(code, forKey: .errorCode)
      try body.encode(detail, forKey: .msg)
      try body.encodeIfPresent(weakPassword, forKey: .weakPassword)
    }
    if dialect == .storage {
      try body.encode(String(status), forKey: .statusCode)
      return try body.encode(code, forKey: .error)
    }
    var nested = body.nestedContainer(keyedBy: NestedKey.self, forKey: .error)
    try nested.encode(nestedCode, forKey: .code)
    try nested.encode(detail, forKey: .message)
    try encodeDetails(into: &nested)
    guard let rateLimit else { return }
    try nested.encode(status, forKey: .status)
    try nested.encode(rateLimit.retryAfterSeconds, forKey: .retryAfter)
    try nested.encode(RFC3339.milliseconds(rateLimit.timestamp), forKey: .timestamp)
  }

  /// `{field:[messages]}`, but a string for the clients of `/auth/v1` and `/rest/v1`, which expect one.
  private func encodeDetails(into nested: inout KeyedEncodingContainer<NestedKey>) throws {
    if fields.isEmpty || dialect == .goTrue || dialect?.isPostgREST ?? false {
      try nested.encode(NullCodable(wrappedValue: detailsText), forKey: .details)
    } else {
      let byField = Dictionary(grouping: fields, by: \.field).mapValues { $0.map(\.message) }
      try nested.encode(byField, forKey: .details)
    }
  }

  private var detailsText: String? {
    fields.isEmpty ? nil : fields.map { "\($0.field) \($0.message)" }.joined(separator: "; ")
  }

  package init(from decoder: any Decoder) throws {
    let body = try decoder.container(keyedBy: Key.self)
    status = try body.decode(Int.self, forKey: .status)
    title = try body.decodeIfPresent(String.self, forKey: .title) ?? ""
    detail = try body.decode(String.self, forKey: .detail)
    code = try body.decode(String.self, forKey: .code)
    requestID = try body.decodeIfPresent(String.self, forKey: .requestID)
    fields = try body.decodeIfPresent([Failure.Field].self, forKey: .errors) ?? []
    nestedCode = code
    dialect = nil
    rateLimit = nil
    weakPassword = nil
  }

  /// The failure that another process answered with. Its kind is derived from the status.
  package var failure: Failure {
    let kind =
      fields.isEmpty
      ? Failure.Kind.allCases.first { $0 != .invalid && APIDialect.api.status(of: $0) == status } ?? .broken : .invalid
    var failure = Failure(code == "validation_error" ? .invalid : kind, code, detail)
    failure.fields = fields
    return failure
  }

  package static func title(of status: Int) -> String { titles[status] ?? "Error" }

  private static let titles = [
    300: "Multiple Choices", 400: "Bad Request", 401: "Unauthorized", 402: "Payment Required", 403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed", 406: "Not Acceptable", 408: "Request Timeout", 409: "Conflict", 410: "Gone",
    412: "Precondition Failed",
    413: "Content Too Large", 414: "URI Too Long", 415: "Unsupported Media Type", 416: "Range Not Satisfiable",
    417: "Expectation Failed", 422: "Unprocessable Content",
    429: "Too Many Requests", 431: "Request Header Fields Too Large", 500: "Internal Server Error",
    501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout",
    505: "HTTP Version Not Supported",
  ]
}
