import Database
import Foundation
import Wire

/// Statements on the identities of people who sign in with Apple: what Apple's notices change.
struct AppleIdentityStore: Sendable {
  let database: any Database

  private static let issuer = SignInWithApple.issuer
  /// How far Apple's clock and ours may be apart.
  private static let leeway = 60.0

  static func account(of subject: String, on db: any Connection) throws -> UserID? {
    try db.row("select account_id from identity where issuer = \(issuer) and subject = \(subject)")?.get("account_id")
  }

  /// Ends what was opened before, and forgets Apple's tokens; the identity stays, so that its person can sign in again.
  /// Who has done so in the meantime is left alone.
  func consentRevoked(by subject: String, at then: Date, now: Date) async throws -> [EndedSession] {
    try await database.write { db in
      try db.change("delete from apple_token where subject = \(subject) and granted_at <= \(then)")
      guard let account = try Self.account(of: subject, on: db) else { return [] }
      let ended = try db.rows(
        """
        update session set ended_at = \(now), end_reason = \(EndReason.revokedByIssuer.rawValue)
        where account_id = \(account) and ended_at is null and opened_at <= \(then + Self.leeway)
        returning id, tokens_until
        """
      ).map { EndedSession(session: try $0.get("id"), until: try $0.get("tokens_until")) }
      if !ended.isEmpty { try ChallengeStore.withdrawAll(of: account, at: now, on: db) }
      return ended
    }
  }

  /// The Apple Account is no more. Takes the identity from an account that has another way in.
  ///
  /// - Returns: the account that has none, and is to be deleted.
  func deleted(_ subject: String) async throws -> UserID? {
    try await database.write { db in
      try db.change("delete from apple_token where subject = \(subject)")
      // The account's row is the lock: ways in come and go under it.
      let locked = try db.row(
        """
        update account set erased_at = null where erased_at is null and id = (
          select account_id from identity where issuer = \(Self.issuer) and subject = \(subject))
        returning id
        """)
      guard let user = try locked?.get("id", as: UserID.self) else { return nil }
      guard try Self.hasAnotherWayIn(user, than: subject, on: db) else { return user }
      try Self.remove(subject, of: user, on: db)
      return nil
    }
  }

  /// An address of Apple's relay is none: its mails go nowhere any more. With a password every address is one.
  private static func hasAnotherWayIn(_ user: UserID, than subject: String, on db: any Connection) throws -> Bool {
    try db.row(
      """
      select other.issuer from identity other
      where other.account_id = \(user) and not (other.issuer = \(issuer) and other.subject = \(subject))
        and (other.issuer <> \(Identity.emailIssuer)
          or exists (select 1 from password p where p.account_id = other.account_id)
          or (other.is_email_verified and not exists (
            select 1 from identity apple where apple.account_id = other.account_id and apple.issuer = \(issuer)
              and apple.subject = \(subject) and apple.is_private_email and lower(apple.email) = other.subject)))
      limit 1
      """) != nil
  }

  /// Takes Apple from an account, and its relay's address with it, unless a password goes with no other.
  static func remove(_ subject: String, of user: UserID, on db: any Connection) throws {
    try db.change(
      """
      delete from identity where account_id = \(user) and issuer = \(Identity.emailIssuer) and subject = (
        select lower(apple.email) from identity apple where apple.issuer = \(issuer) and apple.subject = \(subject)
          and apple.is_private_email)
        and (not exists (select 1 from password p where p.account_id = \(user))
          or exists (select 1 from identity own where own.account_id = \(user)
            and own.issuer = \(Identity.emailIssuer) and own.subject <> identity.subject))
      """)
    try db.change("delete from identity where issuer = \(issuer) and subject = \(subject)")
    try AccountStore.showOwnAddress(of: user, on: db)
  }

  /// Whether the person wants mail through Apple's relay. What Apple told later counts, whatever came first.
  func mail(to subject: String, isDisabled: Bool, since then: Date) async throws {
    try await database.write { db in
      try db.change(
        """
        update identity set is_email_disabled = \(isDisabled), email_told_at = \(then)
        where issuer = \(Self.issuer) and subject = \(subject) and (email_told_at is null or email_told_at <= \(then))
        """)
    }
  }

  /// Whether mail to an address would go to Apple's relay, for somebody who has switched that off.
  static func isSwitchedOff(_ address: EmailAddress, on db: any Connection) throws -> Bool {
    guard address.isAppleRelay else { return false }
    return try db.row(
      """
      select subject from identity
      where is_email_disabled and lower(email) = \(address.canonical) and issuer = \(issuer)
      """) != nil
  }

  static let switchedOffMigration = Migration(
    "addresses that Apple no longer forwards to",
    "create index identity_email_disabled on identity (lower(email)) where is_email_disabled;")
}

extension EmailAddress {
  /// Whether mail to it goes through Apple, for as long as its user signs in with Apple.
  var isAppleRelay: Bool { domain == "privaterelay.appleid.com" }
}
