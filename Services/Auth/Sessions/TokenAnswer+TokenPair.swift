import ClientBodies
import Foundation

extension TokenAnswer {
  /// The response to a sign-in or a refresh.
  ///
  /// - Parameters:
  ///   - hasToken: whether the access token is there once more as `token`, for apps that read this key.
  ///   - hasExpiry: whether `expires_at` is there, for Supabase's client libraries.
  init(
    _ pair: TokenPair, message: String? = nil, hasToken: Bool = true, hasExpiry: Bool = false, user: User?, at now: Date
  ) {
    self.init(
      message: message, accessToken: pair.access, token: hasToken ? pair.access : nil, refreshToken: pair.refresh.text,
      tokenType: TokenPair.accessType, expiresIn: Double(pair.accessExpiresIn(at: now)),
      expiresAt: hasExpiry ? pair.accessExpiry : nil, user: user)
  }
}

extension TokenAnswer<ClientBodies.Profile> {
  /// The same without the user.
  init(_ pair: TokenPair, at now: Date) { self.init(pair, user: nil, at: now) }
}
