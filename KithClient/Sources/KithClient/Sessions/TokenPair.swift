import Foundation

/// The tokens of a sign-in or a refresh.
struct TokenPair: Sendable, Decodable {
  /// Each dialect has another user.
  private struct AnyUser: Decodable {}

  let accessToken: String
  /// nil: the session ends with the access token.
  let refreshToken: String?
  let expiresIn: Double?

  init(accessToken: String, refreshToken: String?, expiresIn: Double?) {
    self.accessToken = accessToken
    self.refreshToken = refreshToken
    self.expiresIn = expiresIn
  }

  /// Older APIs have the access token as `token`.
  init(from decoder: any Decoder) throws {
    let answer = try TokenAnswer<AnyUser>(from: decoder)
    guard let token = answer.accessToken ?? answer.token else {
      throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "has no token"))
    }
    accessToken = token
    refreshToken = answer.refreshToken
    expiresIn = answer.expiresIn
  }
}

/// An access token and how long it can be used.
struct Bearer: Sendable, Equatable {
  let token: String
  /// nil: unknown; the server says when it has ended.
  let expiresAt: Date?
  /// Whether it was fetched because another one had been refused.
  var isReplacement = false

  /// The `sub` claim. The signature is not looked at: this is only for showing and caching.
  var userID: String? {
    let parts = token.split(separator: ".")
    guard parts.count == 3, let claims = Data(base64URL: parts[1]) else { return nil }
    struct Claims: Decodable { let sub: String? }
    // `try?`: an outside issuer's token may be opaque.
    return try? JSONDecoder().decode(Claims.self, from: claims).sub
  }
}

extension Data {
  init?(base64URL text: some StringProtocol) {
    let plain = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
    self.init(base64Encoded: plain + String(repeating: "=", count: (4 - plain.count % 4) % 4))
  }
}
