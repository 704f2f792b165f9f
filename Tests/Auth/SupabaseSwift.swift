import Foundation
import Support

/// The types of supabase-swift's `Auth` with the optionality of their members, and how that library decodes them: keys
/// in snake case, dates with and without fractional seconds, errors from strings only.
enum SupabaseSwift {
  struct Session: Decodable {
    let accessToken: String
    let tokenType: String
    let expiresIn: TimeInterval
    let expiresAt: TimeInterval
    let refreshToken: String
    let weakPassword: WeakPassword?
    let providerToken: String?
    let providerRefreshToken: String?
    let user: User
  }

  struct WeakPassword: Decodable {
    let message: String
    let reasons: [String]
  }

  struct User: Decodable {
    let id: UUID
    let appMetadata: [String: AnyJSON]?
    let userMetadata: [String: AnyJSON]?
    let aud: String
    let confirmationSentAt: Date?
    let recoverySentAt: Date?
    let emailChangeSentAt: Date?
    let newEmail: String?
    let invitedAt: Date?
    let actionLink: String?
    let email: String?
    let phone: String?
    let createdAt: Date
    let confirmedAt: Date?
    let emailConfirmedAt: Date?
    let phoneConfirmedAt: Date?
    let lastSignInAt: Date?
    let role: String?
    let updatedAt: Date
    let identities: [UserIdentity]?
    let isAnonymous: Bool?
    let factors: [Factor]?
  }

  struct UserIdentity: Decodable {
    let id: String
    let identityId: UUID?
    let userId: UUID
    let identityData: [String: AnyJSON]?
    let provider: String
    let createdAt: Date?
    let lastSignInAt: Date?
    let updatedAt: Date?
  }

  struct Factor: Decodable {
    let id: String
    let friendlyName: String?
    let factorType: String
    let status: String
    let createdAt: Date
    let updatedAt: Date
  }

  /// The response of a sign-up: a session, else a user.
  enum SignUp: Decodable {
    case session(Session)
    case user(User)

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if let session = try? container.decode(Session.self) {
        self = .session(session)
      } else {
        self = .user(try container.decode(User.self))
      }
    }
  }

  /// The response of `verify`: a session, else a message after the first of two confirmations.
  enum Verified: Decodable {
    case session(Session)
    case first(FirstConfirmation)

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if let session = try? container.decode(Session.self) {
        self = .session(session)
      } else {
        self = .first(try container.decode(FirstConfirmation.self))
      }
    }
  }

  struct FirstConfirmation: Decodable {
    let msg: String
    let code: String
  }

  struct Sent: Decodable {
    let messageId: String?
  }

  struct EmptyBody: Decodable {}

  struct Keys: Decodable {
    struct Key: Decodable {
      let kty: String
      let kid: String?
      let alg: String?
    }

    let keys: [Key]
  }

  /// Any JSON value, for metadata.
  enum AnyJSON: Decodable, Equatable {
    case null, bool(Bool), number(Double), string(String), array([AnyJSON]), object([String: AnyJSON])

    init(from decoder: any Decoder) throws {
      let value = try decoder.singleValueContainer()
      if value.decodeNil() {
        self = .null
      } else if let bool = try? value.decode(Bool.self) {
        self = .bool(bool)
      } else if let number = try? value.decode(Double.self) {
        self = .number(number)
      } else if let string = try? value.decode(String.self) {
        self = .string(string)
      } else if let array = try? value.decode([AnyJSON].self) {
        self = .array(array)
      } else {
        self = .object(try value.decode([String: AnyJSON].self))
      }
    }
  }

  static func decode<T: Decodable>(_ type: T.Type, from data: Data) throws -> T {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    decoder.dateDecodingStrategy = .custom { decoder in
      let container = try decoder.singleValueContainer()
      let text = try container.decode(String.self)
      guard let date = Self.date(text) else {
        throw DecodingError.dataCorruptedError(in: container, debugDescription: "Invalid date format: \(text)")
      }
      return date
    }
    return try decoder.decode(type, from: data)
  }

  /// The time zone is not read: the date must be in UTC.
  static func date(_ text: String) -> Date? {
    guard let match = text.prefixMatch(of: /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}/) else { return nil }
    let rest = text[match.range.upperBound...]
    guard rest.wholeMatch(of: /(\.\d+)?(Z|\+00:00)?/) != nil else { return nil }
    return try? Date("\(match.output)Z", strategy: .iso8601)
  }

  // MARK: Errors

  /// The error that an app receives for an unsuccessful response.
  struct APIError: Error, Equatable {
    let status: Int
    let code: String
    let message: String
    var reasons: [String] = []

    /// Whether the library removes its session after this error; after any other it stays signed in.
    var endsSession: Bool {
      ["session_not_found", "session_expired", "refresh_token_not_found", "refresh_token_already_used"].contains(code)
    }

    static let unreadable = "unexpected_failure"
  }

  private struct RawError: Decodable {
    let msg: String?
    let message: String?
    let errorDescription: String?
    let error: String?
    let code: String?
    let errorCode: String?
    let weakPassword: Reasons?

    struct Reasons: Decodable { let reasons: [String]? }
  }

  static func error(_ reply: Browser.Reply) -> APIError {
    guard let raw = try? decode(RawError.self, from: reply.body) else {
      return APIError(status: reply.status, code: APIError.unreadable, message: "Unexpected error")
    }
    let version = reply.headers.first(name: "x-supabase-api-version") ?? ""
    let code = version >= "2024-01-01" && raw.code != nil ? raw.code : raw.errorCode
    return APIError(
      status: reply.status, code: code ?? "unknown",
      message: raw.msg ?? raw.message ?? raw.errorDescription ?? raw.error ?? "Unexpected error",
      reasons: raw.weakPassword?.reasons ?? [])
  }
}

/// Sends requests as supabase-swift does: with an API version, and with the project's key as the bearer of signed-out
/// users.
struct SupabaseApp: Sendable {
  enum Method { case GET, POST, PUT, DELETE }

  let browser: Browser
  var access: String?

  init(_ gateway: Browser) {
    browser = gateway.with([
      "X-Supabase-Api-Version": "2024-01-01", "apikey": Self.projectKey, "Authorization": "Bearer \(Self.projectKey)",
    ])
  }

  static let projectKey = "eyJhbGciOiJIUzI1NiJ9.e30.c2lnbmF0dXJl"

  func signedIn(_ session: SupabaseSwift.Session) -> SupabaseApp {
    var app = self
    app.access = session.accessToken
    return app
  }

  /// - Throws: ``SupabaseSwift/APIError``; the decoder's error for a successful response that it cannot read.
  func call<T: Decodable>(
    _ method: Method, _ path: String, _ body: [String: any Sendable]? = nil, as type: T.Type = T.self
  ) async throws -> T {
    let reply = try await send(method, path, body)
    guard (200..<300).contains(reply.status) else { throw SupabaseSwift.error(reply) }
    if T.self == SupabaseSwift.EmptyBody.self, reply.body.isEmpty {
      return try SupabaseSwift.decode(type, from: Data("{}".utf8))
    }
    return try SupabaseSwift.decode(type, from: reply.body)
  }

  func send(_ method: Method, _ path: String, _ body: [String: any Sendable]? = nil) async throws -> Browser.Reply {
    let caller = access.map { browser.bearing($0) } ?? browser
    let data = try body.map { try JSONSerialization.data(withJSONObject: $0) }
    let path = "/auth/v1/\(path)"
    return switch method {
    case .GET: try await caller.send(.GET, path, body: data)
    case .POST: try await caller.send(.POST, path, body: data)
    case .PUT: try await caller.send(.PUT, path, body: data)
    case .DELETE: try await caller.send(.DELETE, path, body: data)
    }
  }

  /// - Throws: the decoder's error; ``Unexpected`` for a successful response.
  func refusal(
    _ method: Method, _ path: String, _ body: [String: any Sendable]? = nil
  ) async throws -> SupabaseSwift.APIError {
    let reply = try await send(method, path, body)
    guard reply.status >= 400 else { throw Unexpected(reply: reply.text) }
    return SupabaseSwift.error(reply)
  }

  func signUp(_ name: String, data: [String: any Sendable] = [:]) async throws -> SupabaseSwift.Session {
    let body: [String: any Sendable] = [
      "email": "\(name)@example.com", "password": "correct horse", "data": data,
    ]
    return try await call(.POST, "signup", body, as: SupabaseSwift.Session.self)
  }

  func signIn(_ email: String, _ password: String) async throws -> SupabaseSwift.Session {
    try await call(
      .POST, "token?grant_type=password", ["email": email, "password": password], as: SupabaseSwift.Session.self)
  }
}
