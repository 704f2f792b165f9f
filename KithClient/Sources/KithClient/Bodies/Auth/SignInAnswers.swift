/// How long a texted code is valid.
public struct SentCode: Sendable, Equatable, Codable {
  public let message: String
  /// In seconds.
  public let expiresIn: Double

  private enum CodingKeys: String, CodingKey {
    case message
    case expiresIn = "expires_in"
  }

  public init(message: String, expiresIn: Double) {
    self.message = message
    self.expiresIn = expiresIn
  }
}

/// The tokens of a sign-in or a refresh, in all dialects: with the user as each of them writes one.
package struct TokenAnswer<User: Sendable>: Sendable {
  /// For people.
  package let message: String?
  package let accessToken: String?
  /// The access token, as older apps read it.
  package let token: String?
  /// nil: the session ends with the access token.
  package let refreshToken: String?
  /// `bearer`.
  package let tokenType: String?
  /// In seconds.
  package let expiresIn: Double?
  /// In seconds since 1970, as Supabase's libraries read it.
  package let expiresAt: Int?
  package let user: User?

  private enum CodingKeys: String, CodingKey {
    case message, token, user
    case accessToken = "access_token"
    case refreshToken = "refresh_token"
    case tokenType = "token_type"
    case expiresIn = "expires_in"
    case expiresAt = "expires_at"
  }

  package init(
    message: String? = nil, accessToken: String?, token: String? = nil, refreshToken: String?, tokenType: String?,
    expiresIn: Double?, expiresAt: Int? = nil, user: User? = nil
  ) {
    self.message = message
    self.accessToken = accessToken
    self.token = token
    self.refreshToken = refreshToken
    self.tokenType = tokenType
    self.expiresIn = expiresIn
    self.expiresAt = expiresAt
    self.user = user
  }
}

extension TokenAnswer: Encodable where User: Encodable {}
extension TokenAnswer: Decodable where User: Decodable {}

/// One user.
package struct UserAnswer<User: Sendable>: Sendable {
  package let user: User

  package init(user: User) {
    self.user = user
  }
}

extension UserAnswer: Encodable where User: Encodable {}
extension UserAnswer: Decodable where User: Decodable {}
