import Database
import Foundation
import Logging
import Outbox
import Tokens
import Web
import Wire

/// What users have granted our apps at Apple: kept from the sign-in, given back when Apple is taken away from the account,
/// or the account is deleted.
struct AppleGrants: Sendable {
  let store: AppleTokenStore
  let apple: SignInWithApple
  /// nil when no key of the team's is configured: then nothing is kept.
  let tokens: AppleTokens?
  let logger: Logger
  let now: @Sendable () -> Date

  /// Exchanges the code that came with a sign-in, once. The sign-in is good whatever comes of it.
  func keep(_ code: String?, from proof: AppleProof, of user: UserID) async {
    guard let tokens, let code, (1...2048).contains(code.utf8.count) else { return }
    do {
      let granted = try await tokens.exchange(code, for: proof.app, at: now())
      let claims = try await apple.claims(AppleIdentityClaims.self, of: granted.id_token, at: now())
      // A code is only worth something to the person who has it from Apple.
      guard claims.sub == proof.identity.subject, claims.aud == proof.app else { throw TokenRejected.claims }
      let isKept = try await store.keep(
        granted.refresh_token, subject: claims.sub, app: proof.app, of: user, at: now())
      // Erased a moment ago: nobody else would give it back.
      if !isKept { try await tokens.revoke(granted.refresh_token, of: proof.app, at: now()) }
    } catch {
      let isOurs = (error as? AppleRefused)?.isOurConfiguration == true
      logger.log(level: isOurs ? .error : .notice, "Apple's code not exchanged", metadata: ["error": "\(error)"])
    }
  }

  /// Gives back what a user has granted, then forgets it. Safe to repeat.
  ///
  /// - Parameter then: what was granted later stays.
  /// - Throws: when Apple cannot be reached, or does not know our key: to be tried again.
  func revoke(of user: UserID, grantedUntil then: Date = .distantFuture) async throws {
    for kept in try await store.tokens(of: user, grantedUntil: then) {
      try await revoke(kept, of: user)
      try await store.forget(kept, of: user)
    }
  }

  private func revoke(_ kept: AppleTokenStore.Kept, of user: UserID) async throws {
    guard let tokens, let token = store.opened(kept) else {
      return logger.error(
        "Apple's token not revoked: its key is gone",
        metadata: ["key": tokens == nil ? "APPLE_PRIVATE_KEY" : "DATA_KEYS"])
    }
    do { try await tokens.revoke(token, of: kept.app, at: now()) } catch let refused as AppleRefused
      where refused.isFinal
    {
      logger.notice("Apple's token was worth nothing any more", metadata: ["error": "\(refused)"])
    }
  }
}

/// Somebody has taken Apple away from an account, or deleted it. It keeps what was granted until Apple has it back.
struct AppleUnlinked: Codable, Sendable {
  static let kind = "apple_unlinked"

  let user: UserID
  let at: Date

  /// Writes it down, in the transaction that takes Apple away or deletes the account.
  static func note(_ user: UserID, in outbox: Outbox, at now: Date, on db: any Connection) throws {
    guard try AppleTokenStore.hasAny(user, on: db) else { return }
    try outbox.add(kind, AppleUnlinked(user: user, at: now), user: user, at: now, on: db)
  }

  static func delivery(_ grants: AppleGrants) -> Delivery {
    // Apple may be away for a while. What is not given back by then is when the account is erased.
    Delivery(kind, timeout: .seconds(40), giveUpAfter: .seconds(30 * 86_400)) { post in
      let unlinked = try post.decode(AppleUnlinked.self)
      try await grants.revoke(of: unlinked.user, grantedUntil: unlinked.at)
    }
  }
}
