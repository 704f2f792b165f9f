import Database
import Foundation
import Wire

/// Statements on accounts whose users come with bearers of outside issuers.
extension AccountStore {
  /// The account of an outside issuer's subject, made when there is none. nil when it was deactivated: only signing in
  /// here brings it back. Safe under concurrent first calls.
  func account(bearing identity: Identity, at now: Date) async throws -> (account: Account, isFirstSight: Bool)? {
    let known = try await database.read { db in
      try Self.find(identity, on: db).map { ($0, try Self.hasNews(identity, on: db)) }
    }
    // What nearly every call ends with: nobody waits for a write.
    if let (account, hasNews) = known, !hasNews || !account.isActive {
      return account.isActive ? (account, false) : nil
    }
    let (account, isFirstSight) = try await Self.again {
      try await database.write { db in
        if let known = try Self.find(identity, on: db) {
          return (try Self.told(identity, of: known, at: now, on: db), false)
        }
        // A bearer is no act of its user's: what they have taken away does not come back by itself.
        let isUnlinked = try Unlinked.contains(identity, on: db)
        guard !isUnlinked, let owner = try Self.linked(identity, at: now, on: db) else {
          return (try Self.create(identity, signsIn: true, at: now, on: db), true)
        }
        return (try Self.told(identity, of: owner, at: now, on: db), true)
      }
    }
    return account.isActive ? (account, isFirstSight) : nil
  }

  /// Whether the issuer says something of the address that is not known yet.
  private static func hasNews(_ identity: Identity, on db: any Connection) throws -> Bool {
    guard let email = identity.email else { return false }
    return try db.row(
      """
      select 1 as known from identity where issuer = \(identity.issuer) and subject = \(identity.subject)
        and email = \(email) and is_email_verified = \(identity.isEmailVerified)
      """) == nil
  }

  /// Takes over what the issuer says; what the account already has is not replaced.
  private static func told(
    _ identity: Identity, of account: Account, at now: Date, on db: any Connection
  ) throws -> Account {
    let isThere = try db.change(
      """
      update account set display_name = coalesce(display_name, \(identity.displayName))
      where id = \(account.id) and erased_at is null
      """)
    // Forgotten a moment ago: whoever looks again finds nobody.
    guard isThere == 1 else { throw Erased() }
    if let email = identity.email {
      try db.change(
        """
        update identity set email = \(email), is_email_verified = \(identity.isEmailVerified)
        where issuer = \(identity.issuer) and subject = \(identity.subject)
        """)
      if identity.claimsEmail, let email = EmailAddress(email) {
        try own(email, isVerified: identity.isEmailVerified, by: account.id, at: now, on: db)
      }
    }
    guard let account = try Self.account(account.id, on: db) else { throw Erased() }
    return account
  }

  /// Accounts that were deactivated lately, or have lost an outside issuer: whose bearers have to be asked for again.
  /// Replicas wrote these times down by clocks of their own, so they are told for as long as those may be apart.
  static func outsideBearersEnded(at now: Date, on db: any Connection) throws -> [EndedSession] {
    let from = now - EndedSessions.Entry.rememberedSeconds - SessionStore.clocksApart
    return try db.rows(
      """
      select id, deactivated_at as over_at from account where deactivated_at > \(from)
      union all select account_id, unlinked_at from unlinked where unlinked_at > \(from)
      """
    ).map { EndedSession(outsideBearersOf: try $0.get("id"), at: try $0.get("over_at")) }
  }
}

let outsidersMigration = Migration(
  "outside issuers",
  "create index account_deactivated on account (deactivated_at) where deactivated_at is not null;")
