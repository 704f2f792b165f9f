import Database
import Foundation
import Logging
import Outbox
import Tokens
import Web
import Wire

/// The authorizations that users have granted to our apps at Apple. They are stored at the sign-in and revoked when the
/// user unlinks Apple or deletes the account.
struct AppleGrants: Sendable {
  let store: AppleTokenStore
  let apple: SignInWithApple
  /// nil when no key of the team is configured; then nothing is stored.
  let tokenClient: AppleTokenClient?
  let logger: Logger
  let now: @Sendable () -> Date

  /// Exchanges the authorization code of a sign-in, once. The sign-in succeeds whatever the result.
  func exchange(_ code: String?, from verified: VerifiedAppleIdentity, of user: UserID) async {
    guard let tokenClient, let code, (1...2048).contains(code.utf8.count) else { return }
    do {
      let response = try await tokenClient.exchange(code, for: verified.app, at: now())
      let claims = try await apple.claims(AppleIdentityClaims.self, of: response.id_token, at: now())
      // A code is only accepted from the user to whom Apple has issued it.
      guard claims.sub == verified.identity.subject, claims.aud == verified.app else { throw TokenRejected.claims }
      let isStored = try await store.store(
        response.refresh_token, subject: claims.sub, app: verified.app, of: user, at: now())
      // Erased meanwhile: no other call would revoke it.
      if !isStored { try await tokenClient.revoke(response.refresh_token, of: verified.app, at: now()) }
    } catch {
      let isConfigurationError = (error as? AppleTokenError)?.isConfigurationError == true
      logger.log(
        level: isConfigurationError ? .error : .notice, "Apple's code not exchanged", metadata: ["error": "\(error)"])
    }
  }

  /// Revokes the grants of a user at Apple, then deletes them. Safe to repeat.
  ///
  /// - Parameter then: later grants stay.
  /// - Throws: when Apple cannot be reached or does not accept our key; to be retried.
  func revoke(of user: UserID, grantedUntil then: Date = .distantFuture) async throws {
    for stored in try await store.tokens(of: user, grantedUntil: then) {
      try await revoke(stored, of: user)
      try await store.delete(stored, of: user)
    }
  }

  private func revoke(_ stored: AppleTokenStore.SealedToken, of user: UserID) async throws {
    guard let tokenClient, let token = store.opened(stored) else {
      return logger.error(
        "Apple's token not revoked: its key is gone",
        metadata: ["key": tokenClient == nil ? "APPLE_PRIVATE_KEY" : "DATA_KEYS"])
    }
    do { try await tokenClient.revoke(token, of: stored.app, at: now()) } catch let error as AppleTokenError
      where error.isPermanent
    {
      logger.notice("Apple's token was worth nothing any more", metadata: ["error": "\(error)"])
    }
  }
}

/// The outbox message after a user has unlinked Apple or deleted the account. The grants stay stored until they have
/// been revoked.
struct AppleRevocation: Codable, Sendable {
  static let kind = "apple_unlinked"

  let user: UserID
  let at: Date

  /// Adds the message, in the transaction that unlinks Apple or deletes the account.
  static func enqueue(_ user: UserID, in outbox: Outbox, at now: Date, on db: any Connection) throws {
    guard try AppleTokenStore.hasAny(user, on: db) else { return }
    try outbox.add(kind, AppleRevocation(user: user, at: now), user: user, at: now, on: db)
  }

  static func delivery(_ grants: AppleGrants) -> Delivery {
    // Apple may be unavailable for a while. A grant that is not revoked by then is revoked when the account is erased.
    Delivery(kind, timeout: .seconds(40), giveUpAfter: Delivery.month) { message in
      let revocation = try message.decode(AppleRevocation.self)
      try await grants.revoke(of: revocation.user, grantedUntil: revocation.at)
    }
  }
}
