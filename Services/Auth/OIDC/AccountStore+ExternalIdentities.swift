import Database
import Foundation
import Wire

/// Statements on the accounts of users with tokens of external issuers.
extension AccountStore {
  /// The account of an external issuer's subject, created when there is none. nil when it was deactivated: only a
  /// sign-in here restores it. Safe under concurrent first calls.
  func account(forExternal identity: Identity, at now: Date) async throws -> (account: Account, isNew: Bool)? {
    let known = try await database.read { db in
      try Self.find(identity, on: db).map { ($0, try Self.isChanged(identity, on: db)) }
    }
    // Nearly every call returns here, without a write.
    if let (account, isChanged) = known, !isChanged || !account.isActive {
      return account.isActive ? (account, false) : nil
    }
    let (account, isNew) = try await Self.retryingConflicts {
      try await database.write { db in
        if let known = try Self.find(identity, on: db) {
          return (try Self.update(known, from: identity, at: now, on: db), false)
        }
        // A request with a bearer token is not a sign-in: it does not link again an identity that the user has
        // unlinked.
        let isUnlinked = try UnlinkedIdentities.contains(identity, on: db)
        guard !isUnlinked, let owner = try Self.linkByEmail(identity, at: now, on: db) else {
          return (try Self.create(identity, signsIn: true, at: now, on: db), true)
        }
        return (try Self.update(owner, from: identity, at: now, on: db), true)
      }
    }
    return account.isActive ? (account, isNew) : nil
  }

  /// Whether the e-mail address or its verification differs from what is stored.
  private static func isChanged(_ identity: Identity, on db: any Connection) throws -> Bool {
    guard let email = identity.email else { return false }
    return try db.row(
      """
      select 1 as known from identity where issuer = \(identity.issuer) and subject = \(identity.subject)
        and email = \(email) and is_email_verified = \(identity.isEmailVerified)
      """) == nil
  }

  /// Stores what the issuer sends. Does not replace values that the account already has.
  private static func update(
    _ account: Account, from identity: Identity, at now: Date, on db: any Connection
  ) throws -> Account {
    let updated = try db.change(
      """
      update account set display_name = coalesce(display_name, \(identity.displayName))
      where id = \(account.id) and erased_at is null
      """)
    // Erased meanwhile: a retry does not find the account.
    guard updated == 1 else { throw AccountErased() }
    if let email = identity.email {
      try db.change(
        """
        update identity set email = \(email), is_email_verified = \(identity.isEmailVerified)
        where issuer = \(identity.issuer) and subject = \(identity.subject)
        """)
      if identity.claimsEmail, let email = EmailAddress(email) {
        try assignEmail(email, isVerified: identity.isEmailVerified, to: account.id, at: now, on: db)
      }
    }
    guard let account = try Self.account(account.id, on: db) else { throw AccountErased() }
    return account
  }

  /// The accounts that were deactivated lately or have unlinked an external issuer, whose bearer tokens have to be
  /// resolved again. These times are by the clocks of the replicas, so they are reported for as long as the clocks may
  /// differ.
  static func endedExternalBearers(at now: Date) -> SQL {
    let from = now - EndedSessions.Entry.cachedSeconds - SessionStore.clockSkewSeconds
    return """
      select id, deactivated_at as over_at from account where deactivated_at > \(from)
      union all select account_id, unlinked_at from unlinked where unlinked_at > \(from)
      """
  }

  /// - Parameter row: of ``endedExternalBearers(at:)``.
  static func endedExternalBearer(_ row: Row) throws -> EndedSession {
    EndedSession(externalTokensOf: try row.get("id"), at: try row.get("over_at"))
  }
}

let externalIssuersMigration = Migration(
  "outside issuers",
  "create index account_deactivated on account (deactivated_at) where deactivated_at is not null;")
