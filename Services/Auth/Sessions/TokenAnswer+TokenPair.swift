import ClientBodies
import Foundation

/// The response to a sign-in or a refresh: the union of what the apps read.
extension TokenAnswer {
  init(_ pair: TokenPair, message: String? = nil, user: User?, at now: Date) {
    self.init(pair, message: message, token: pair.access, user: user, at: now)
  }

  /// - Parameters:
  ///   - token: the access token, for apps that read this key.
  ///   - expiresAt: in seconds since 1970, for Supabase's client libraries.
  init(
    _ pair: TokenPair, message: String? = nil, token: String?, expiresAt: Int? = nil, user: User?, at now: Date
  ) {
    self.init(
      message: message, accessToken: pair.access, token: token, refreshToken: pair.refresh.text, tokenType: "bearer",
      expiresIn: Double(pair.accessExpiresIn(at: now)), expiresAt: expiresAt, user: user)
  }
}

extension TokenAnswer<ClientBodies.Profile> {
  /// The tokens alone.
  init(_ pair: TokenPair, at now: Date) { self.init(pair, user: nil, at: now) }
}
