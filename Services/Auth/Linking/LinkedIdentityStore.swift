import Database
import Foundation
import Outbox
import Wire

/// Every statement that adds identities to an account or removes them. Accounts are never merged: an identity of
/// another account stays there.
struct LinkedIdentityStore: Sendable {
  let database: any Database
  let outbox: Outbox

  /// Adds a subject of an issuer; does nothing when the account has it already.
  ///
  /// - Throws: 409 `identity_taken`; 401 when the account was deleted meanwhile.
  func add(_ identity: Identity, to user: UserID, at now: Date) async throws {
    do {
      try await database.write { db in
        guard try AccountStore.lockActive(user, on: db) else { throw Failure.sessionEnded }
        try Self.add(identity, to: user, at: now, on: db)
      }
    } catch DatabaseFailure.unique("identity_issuer_subject") { throw Failure.identityTaken }
  }

  /// Adds the phone number or e-mail address whose code was sent for this account. False when `answer` is nil.
  ///
  /// - Throws: 409 `identity_taken` when another account has verified it meanwhile; 401 when this one was deleted.
  func add(
    to user: UserID, at now: Date, answering answer: @escaping @Sendable (any Connection) throws -> StoredChallenge?
  ) async throws -> Bool {
    do {
      return try await database.write { db in
        guard try AccountStore.lockActive(user, on: db) else { throw Failure.sessionEnded }
        guard let answered = try answer(db) else { return false }
        let subject = answered.content.subject
        guard answered.kind == .addEmail, let email = EmailAddress(subject) else {
          try Self.add(Identity(issuer: Identity.phoneIssuer, subject: subject), to: user, at: now, on: db)
          return true
        }
        guard try AccountStore.assignEmail(email, isVerified: true, to: user, at: now, on: db) else {
          throw Failure.identityTaken
        }
        try AccountStore.clearAnonymous(user, on: db)
        return true
      }
    } catch DatabaseFailure.unique("identity_issuer_subject") { throw Failure.identityTaken }
  }

  private static func add(_ identity: Identity, to user: UserID, at now: Date, on db: any Connection) throws {
    if let owner = try AccountStore.find(identity, on: db) {
      guard owner.id == user else { throw Failure.identityTaken }
      return
    }
    try AccountStore.insert(identity, of: user, at: now, on: db)
    try AccountStore.clearAnonymous(user, on: db)
  }

  /// Removes the identities of a provider. With the last e-mail address the password is removed; Apple's grants are
  /// revoked.
  ///
  /// - Returns: the sessions that ended: those of bearers of an external issuer.
  /// - Throws: 404 for an identity that the account does not have, 409 `last_identity` for the only one.
  func remove(_ provider: String, from user: UserID, at now: Date) async throws -> [EndedSession] {
    let ended = try await database.write { db -> [EndedSession] in
      // Locked: of two concurrent removals, the second reads the result of the first and fails if it would remove the
      // last identity.
      guard try AccountStore.lockActive(user, on: db) else { throw Failure.sessionEnded }
      guard let profile = try Profile.find(user, on: db) else { throw Failure.sessionEnded }
      let removed = profile.identities.filter { $0.provider == provider }
      guard !removed.isEmpty else { throw Failure.identityNotFound }
      let remaining = profile.identities.filter { $0.provider != nil && $0.provider != provider }
      guard remaining.contains(where: { $0.allowsSignIn(to: profile, without: provider) }) else {
        throw Failure.lastIdentity
      }
      if provider == "apple" {
        for identity in removed { try AppleIdentityStore.remove(identity.subject, of: user, on: db) }
        try AppleRevocation.enqueue(user, in: outbox, at: now, on: db)
        return []
      }
      for identity in removed {
        let (issuer, subject) = (identity.issuer, identity.subject)
        try db.change(
          "delete from identity where account_id = \(user) and issuer = \(issuer) and subject = \(subject)")
      }
      switch provider {
      case Identity.phoneIssuer: return []
      case Identity.emailIssuer:
        try db.change("delete from password where account_id = \(user)")
        try AccountStore.refreshDisplayedEmail(of: user, on: db)
        return []
      default: return try UnlinkedIdentities.record(removed, of: user, at: now, on: db)
      }
    }
    outbox.wakeUp()
    return ended
  }
}

extension Profile.LinkedIdentity {
  /// Whether the user can sign in with this identity after another one was removed. Without Apple, mail to Apple's
  /// relay is not forwarded.
  fileprivate func allowsSignIn(to profile: Profile, without provider: String) -> Bool {
    guard issuer == Identity.emailIssuer, !profile.hasPassword else { return true }
    return isEmailVerified && !(provider == "apple" && EmailAddress(subject)?.isAppleRelay == true)
  }
}

extension Failure {
  static let identityTaken = Failure(.conflict, "identity_taken", "This belongs to another account.")
  static let identityNotFound = Failure(.notFound, "identity_not_found", "The account has no such way to sign in.")
  static let lastIdentity = Failure(
    .conflict, "last_identity", "This is the only way to sign in to the account. Add another one first.")
}
