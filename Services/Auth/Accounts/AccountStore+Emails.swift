import Database
import Foundation
import Wire

/// Statements on the owners of e-mail addresses. An address belongs to the account that has verified it, else to the
/// account that has claimed it first. The address that an account displays is one of its own.
extension AccountStore {
  /// The account that has verified or claimed an address.
  static func owner(ofEmail canonical: String, on db: any Connection) throws -> UserID? {
    try db.row(
      "select account_id from identity where issuer = \(Identity.emailIssuer) and subject = \(canonical)")?
      .get("account_id")
  }

  /// Whether an address belongs to an account that has claimed and not verified it.
  static func isOnlyClaimed(_ canonical: String, on db: any Connection) throws -> Bool {
    try db.row(
      """
      select account_id from identity
      where issuer = \(Identity.emailIssuer) and subject = \(canonical) and not is_email_verified
      """) != nil
  }

  /// Whether an account has an identity other than this address.
  static func hasOtherIdentities(_ user: UserID, than canonical: String, on db: any Connection) throws -> Bool {
    try db.row(
      """
      select subject from identity where account_id = \(user)
        and not (issuer = \(Identity.emailIssuer) and subject = \(canonical)) limit 1
      """) != nil
  }

  /// Assigns an address to an account. Verifying an address takes it from an account that has only claimed it.
  ///
  /// - Returns: whether the address belongs to the account now.
  @discardableResult
  static func assignEmail(
    _ email: EmailAddress, isVerified: Bool, to account: UserID, at now: Date, on db: any Connection
  ) throws -> Bool {
    let inserted = try db.change(
      """
      insert into identity (issuer, subject, account_id, email, is_email_verified, is_private_email, created_at)
      values (\(Identity.emailIssuer), \(email.canonical), \(account), \(email.text), \(isVerified), \(false), \(now))
      on conflict (issuer, subject) do nothing
      """)
    if inserted == 0 {
      let (owner, wasVerified) = try lockedOwner(of: email, on: db)
      if isVerified, !wasVerified {
        try db.change(
          """
          update identity set account_id = \(account), email = \(email.text), is_email_verified = \(true),
            created_at = \(now)
          where issuer = \(Identity.emailIssuer) and subject = \(email.canonical)
          """)
        try refreshDisplayedEmail(of: owner, on: db)
      } else if owner != account {
        return false
      }
    }
    try refreshDisplayedEmail(of: account, on: db)
    if isVerified { try clearDisplayedEmail(email, except: account, on: db) }
    return true
  }

  /// The owner of an address, and whether it is verified. The update locks the row: of two concurrent verifications,
  /// the second reads the result of the first.
  private static func lockedOwner(
    of email: EmailAddress, on db: any Connection
  ) throws -> (owner: UserID, isVerified: Bool) {
    let row = try db.row(
      """
      update identity set created_at = created_at
      where issuer = \(Identity.emailIssuer) and subject = \(email.canonical)
      returning account_id, is_email_verified
      """)
    // The address was removed meanwhile: the transaction is retried.
    guard let row else { throw DatabaseFailure.contended }
    return (try row.get("account_id"), try row.get("is_email_verified"))
  }

  /// Creates an account with an address or number, which is taken from an account that has only claimed it.
  static func create(taking identity: Identity, at now: Date, on db: any Connection) throws -> UserID {
    let claimed = try db.row(
      """
      delete from identity where issuer = \(identity.issuer) and subject = \(identity.subject)
        and not is_email_verified and issuer = \(Identity.emailIssuer)
      returning account_id
      """)
    if let previousOwner = try claimed?.get("account_id", as: UserID.self) {
      try refreshDisplayedEmail(of: previousOwner, on: db)
    }
    return try create(identity, signsIn: true, at: now, on: db).id
  }

  /// When the displayed address is no longer one of the account's, displays another one, verified addresses first.
  static func refreshDisplayedEmail(of user: UserID, on db: any Connection) throws {
    try db.change(
      """
      update account set email = (select own.email from identity own where own.account_id = account.id
        and own.issuer = \(Identity.emailIssuer) order by own.is_email_verified desc, own.created_at limit 1)
      where id = \(user) and not exists (select 1 from identity own where own.account_id = account.id
        and own.issuer in (\(Identity.emailIssuer), \(Identity.externalIDIssuer)) and own.email = account.email)
      """)
  }

  /// Stops displaying an address that an external system has sent for its user, once another account has verified it.
  private static func clearDisplayedEmail(_ email: EmailAddress, except owner: UserID, on db: any Connection) throws {
    try db.change(
      """
      update account set email = null where id <> \(owner) and lower(email) = \(email.canonical)
        and id in (select account_id from identity
          where issuer = 'external' and lower(email) = \(email.canonical))
      """)
  }

  static let displayedEmailMigration = Migration(
    "accounts show addresses of their own",
    """
    create index identity_external_email on identity (lower(email)) where issuer = 'external';
    update account set email = (select own.email from identity own where own.account_id = account.id
      and own.issuer = 'email' order by own.is_email_verified desc, own.created_at limit 1)
    where email is not null and not exists (select 1 from identity own where own.account_id = account.id
      and own.issuer in ('email', 'external') and own.email = account.email);
    """)
}
