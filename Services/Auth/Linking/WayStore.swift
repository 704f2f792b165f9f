import Database
import Foundation
import Outbox
import Wire

/// Every statement on ways in that are added to an account, and taken away from it. Nothing is ever merged: what another
/// account has stays there.
struct WayStore: Sendable {
  let database: any Database
  let outbox: Outbox

  /// Adds an issuer's subject, or does nothing when the account has it already.
  ///
  /// - Throws: 409 `identity_taken`; 401 when the account was deleted meanwhile.
  func add(_ identity: Identity, to user: UserID, at now: Date) async throws {
    do {
      try await database.write { db in
        guard try AccountStore.hold(user, on: db) else { throw Failure.sessionEnded }
        try Self.add(identity, to: user, at: now, on: db)
      }
    } catch DatabaseFailure.unique("identity_issuer_subject") { throw Failure.identityTaken }
  }

  /// Adds the number or the address whose code was sent for this account. False when `answer` is nil.
  ///
  /// - Throws: 409 `identity_taken` when another account has verified it meanwhile; 401 when this one was deleted.
  func add(
    to user: UserID, at now: Date, answering answer: @escaping @Sendable (any Connection) throws -> Answered?
  ) async throws -> Bool {
    do {
      return try await database.write { db in
        guard try AccountStore.hold(user, on: db) else { throw Failure.sessionEnded }
        guard let answered = try answer(db) else { return false }
        let subject = answered.content.subject
        guard answered.kind == .addEmail, let email = EmailAddress(subject) else {
          try Self.add(Identity(issuer: Identity.phoneIssuer, subject: subject), to: user, at: now, on: db)
          return true
        }
        guard try AccountStore.own(email, isVerified: true, by: user, at: now, on: db) else {
          throw Failure.identityTaken
        }
        try Self.isSomebody(user, on: db)
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
    try isSomebody(user, on: db)
  }

  /// Takes a way in away; the password goes with the last address, and Apple gets back what was granted there.
  ///
  /// - Returns: what is over with it: what bearers of an outside issuer may do.
  /// - Throws: 404 for what is not there, 409 `last_identity` for the only way in.
  func remove(_ provider: String, from user: UserID, at now: Date) async throws -> [EndedSession] {
    let ended = try await database.write { db -> [EndedSession] in
      // The lock: of two that are taken away at the same time, the second sees that it is the last.
      guard try AccountStore.hold(user, on: db) else { throw Failure.sessionEnded }
      guard let profile = try Profile.find(user, on: db) else { throw Failure.sessionEnded }
      let gone = profile.ways.filter { $0.provider == provider }
      guard !gone.isEmpty else { throw Failure.identityNotFound }
      let left = profile.ways.filter { $0.provider != nil && $0.provider != provider }
      guard left.contains(where: { $0.opens(profile, without: provider) }) else { throw Failure.lastIdentity }
      if provider == "apple" {
        for way in gone { try AppleIdentityStore.remove(way.subject, of: user, on: db) }
        try AppleUnlinked.note(user, in: outbox, at: now, on: db)
        return []
      }
      for way in gone {
        try db.change(
          """
          delete from identity where account_id = \(user) and issuer = \(way.issuer) and subject = \(way.subject)
          """)
      }
      switch provider {
      case Identity.phoneIssuer: return []
      case Identity.emailIssuer:
        try db.change("delete from password where account_id = \(user)")
        try AccountStore.showOwnAddress(of: user, on: db)
        return []
      default: return try Unlinked.note(gone, of: user, at: now, on: db)
      }
    }
    outbox.ring()
    return ended
  }

  /// Whoever has a way in is not anonymous any more.
  private static func isSomebody(_ user: UserID, on db: any Connection) throws {
    try db.change("update account set is_anonymous = \(false) where id = \(user)")
  }
}

extension Profile.Way {
  /// Whether the user can sign in by it when another is gone. Apple's relay forwards nothing then.
  fileprivate func opens(_ profile: Profile, without provider: String) -> Bool {
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
