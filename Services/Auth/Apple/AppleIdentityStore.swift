import Database
import Foundation
import Wire

/// Statements on Apple identities, for Apple's notifications.
struct AppleIdentityStore: Sendable {
  let database: any Database

  private static let issuer = SignInWithApple.issuer
  /// The maximum difference between Apple's clock and ours.
  private static let leewaySeconds = 60.0

  static func account(of subject: String, on db: any Connection) throws -> UserID? {
    try db.row("select account_id from identity where issuer = \(issuer) and subject = \(subject)")?.get("account_id")
  }

  /// Ends the sessions that were opened, and deletes the tokens that were granted, before `then`. The identity stays,
  /// so that the user can sign in again; later sessions stay as well.
  func revokeConsent(of subject: String, at then: Date, now: Date) async throws -> [EndedSession] {
    try await database.write { db in
      try db.change("delete from apple_token where subject = \(subject) and granted_at <= \(then)")
      guard let account = try Self.account(of: subject, on: db) else { return [] }
      let ended = try db.rows(
        """
        update session set ended_at = \(now), end_reason = \(EndReason.revokedByIssuer.rawValue)
        where account_id = \(account) and ended_at is null and opened_at <= \(then + Self.leewaySeconds)
        returning id, tokens_until
        """
      ).map { EndedSession(session: try $0.get("id"), until: try $0.get("tokens_until")) }
      AccountEvents.sessionsEnded(ended, of: account, reason: .revokedByIssuer, at: now, on: db)
      if !ended.isEmpty { try ChallengeStore.revokeAll(of: account, at: now, on: db) }
      return ended
    }
  }

  /// The Apple Account was deleted. Removes the identity from an account that has another one.
  ///
  /// - Returns: the account that has no other identity, which is to be deleted.
  func removeDeleted(_ subject: String) async throws -> UserID? {
    try await database.write { db in
      try db.change("delete from apple_token where subject = \(subject)")
      // The update locks the account's row, as do other calls that add and remove identities.
      let locked = try db.row(
        """
        update account set erased_at = null where erased_at is null and id = (
          select account_id from identity where issuer = \(Self.issuer) and subject = \(subject))
        returning id
        """)
      guard let user = try locked?.get("id", as: UserID.self) else { return nil }
      guard try Self.hasOtherIdentity(user, than: subject, on: db) else { return user }
      try Self.remove(subject, of: user, on: db)
      return nil
    }
  }

  /// An address of Apple's relay does not count, as Apple no longer forwards its mail. With a password every address
  /// counts.
  private static func hasOtherIdentity(_ user: UserID, than subject: String, on db: any Connection) throws -> Bool {
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

  /// Removes Apple's identity from an account, and the address of Apple's relay with it, unless that is the only
  /// address with which the password can be used.
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
    try AccountStore.refreshDisplayedEmail(of: user, on: db)
  }

  /// Whether the user wants mail through Apple's relay. Notifications may arrive in any order; the latest by Apple's
  /// clock applies.
  func setEmail(of subject: String, isDisabled: Bool, since then: Date) async throws {
    try await database.write { db in
      try db.change(
        """
        update identity set is_email_disabled = \(isDisabled), email_told_at = \(then)
        where issuer = \(Self.issuer) and subject = \(subject) and (email_told_at is null or email_told_at <= \(then))
        """)
    }
  }

  /// Whether an address is one of Apple's relay whose user has disabled forwarding.
  static func isForwardingDisabled(_ address: EmailAddress, on db: any Connection) throws -> Bool {
    guard address.isAppleRelay else { return false }
    return try db.row(
      """
      select subject from identity
      where is_email_disabled and lower(email) = \(address.canonical) and issuer = \(issuer)
      """) != nil
  }

  static let forwardingMigration = Migration(
    "addresses that Apple no longer forwards to",
    "create index identity_email_disabled on identity (lower(email)) where is_email_disabled;")
}

extension EmailAddress {
  /// Whether mail to this address is forwarded by Apple; it is while the user signs in with Apple.
  var isAppleRelay: Bool { domain == "privaterelay.appleid.com" }
}
