import Database
import Foundation
import Wire

/// What a sign-in returns: the user's profile and the tokens of the new session.
typealias SignInResult = (profile: Profile, pair: TokenPair)

extension SessionStore {
  /// Opens a session of `user` and reads their profile, in the caller's transaction.
  ///
  /// - Throws: `DatabaseFailure.contended` when the account is not active any more.
  static func signIn(
    _ user: UserID, _ tokenIssuer: TokenPairIssuer, _ context: SignInContext, at now: Date, on db: any Connection
  ) throws -> SignInResult {
    let pair = try SessionStore.open(for: user, tokenIssuer: tokenIssuer, context: context, at: now, on: db)
    guard let profile = try Profile.find(user, on: db) else { throw DatabaseFailure.contended }
    return (profile, pair)
  }
}
