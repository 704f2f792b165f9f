import Database
import Foundation
import Wire

/// Statements on whose an address is: it belongs to who has verified it, else to who claimed it first. What an account
/// shows as its address is always one of its own.
extension AccountStore {
  /// Whose an address is, verified or claimed.
  static func owner(ofEmail canonical: String, on db: any Connection) throws -> UserID? {
    try db.row(
      "select account_id from identity where issuer = \(Identity.emailIssuer) and subject = \(canonical)")?
      .get("account_id")
  }

  /// Whether an account has the address that has only claimed it.
  static func isOnlyClaimed(_ canonical: String, on db: any Connection) throws -> Bool {
    try db.row(
      """
      select account_id from identity
      where issuer = \(Identity.emailIssuer) and subject = \(canonical) and not is_email_verified
      """) != nil
  }

  /// Whether an account can be come by in another way than by this address.
  static func hasOtherWays(_ user: UserID, than canonical: String, on db: any Connection) throws -> Bool {
    try db.row(
      """
      select subject from identity where account_id = \(user)
        and not (issuer = \(Identity.emailIssuer) and subject = \(canonical)) limit 1
      """) != nil
  }

  /// Makes an address the account's own. Whoever verifies one takes it from an account that only claimed it.
  ///
  /// - Returns: whether it is the account's now.
  @discardableResult
  static func own(
    _ email: EmailAddress, isVerified: Bool, by account: UserID, at now: Date, on db: any Connection
  ) throws -> Bool {
    let isNew = try db.change(
      """
      insert into identity (issuer, subject, account_id, email, is_email_verified, is_private_email, created_at)
      values (\(Identity.emailIssuer), \(email.canonical), \(account), \(email.text), \(isVerified), \(false), \(now))
      on conflict (issuer, subject) do nothing
      """)
    if isNew == 0 {
      let (owner, wasVerified) = try held(email, on: db)
      if isVerified, !wasVerified {
        try db.change(
          """
          update identity set account_id = \(account), email = \(email.text), is_email_verified = \(true),
            created_at = \(now)
          where issuer = \(Identity.emailIssuer) and subject = \(email.canonical)
          """)
        try showOwnAddress(of: owner, on: db)
      } else if owner != account {
        return false
      }
    }
    try showOwnAddress(of: account, on: db)
    if isVerified { try hide(email, butFor: account, on: db) }
    return true
  }

  /// Whose it is, and whether they have verified it. The row is the lock: of two who verify an address at the same time,
  /// the second sees the first.
  private static func held(_ email: EmailAddress, on db: any Connection) throws -> (owner: UserID, isVerified: Bool) {
    let row = try db.row(
      """
      update identity set created_at = created_at
      where issuer = \(Identity.emailIssuer) and subject = \(email.canonical)
      returning account_id, is_email_verified
      """)
    // Given up a moment ago: the transaction is run again.
    guard let row else { throw DatabaseFailure.contended }
    return (try row.get("account_id"), try row.get("is_email_verified"))
  }

  /// A new account whose address or number is taken from whoever only claimed it.
  static func create(taking identity: Identity, at now: Date, on db: any Connection) throws -> UserID {
    let claimed = try db.row(
      """
      delete from identity where issuer = \(identity.issuer) and subject = \(identity.subject)
        and not is_email_verified and issuer = \(Identity.emailIssuer)
      returning account_id
      """)
    if let loser = try claimed?.get("account_id", as: UserID.self) { try showOwnAddress(of: loser, on: db) }
    return try create(identity, signsIn: true, at: now, on: db).id
  }

  /// Shows another address of the account's own when the one that is shown has gone, the verified first.
  static func showOwnAddress(of user: UserID, on db: any Connection) throws {
    try db.change(
      """
      update account set email = (select own.email from identity own where own.account_id = account.id
        and own.issuer = \(Identity.emailIssuer) order by own.is_email_verified desc, own.created_at limit 1)
      where id = \(user) and not exists (select 1 from identity own where own.account_id = account.id
        and own.issuer in (\(Identity.emailIssuer), \(Identity.externalIssuer)) and own.email = account.email)
      """)
  }

  /// What an outside system says of its users is shown until somebody has shown that it is theirs.
  private static func hide(_ email: EmailAddress, butFor owner: UserID, on db: any Connection) throws {
    try db.change(
      """
      update account set email = null where id <> \(owner) and lower(email) = \(email.canonical)
        and id in (select account_id from identity
          where issuer = 'external' and lower(email) = \(email.canonical))
      """)
  }

  static let addressMigration = Migration(
    "accounts show addresses of their own",
    """
    create index identity_external_email on identity (lower(email)) where issuer = 'external';
    update account set email = (select own.email from identity own where own.account_id = account.id
      and own.issuer = 'email' order by own.is_email_verified desc, own.created_at limit 1)
    where email is not null and not exists (select 1 from identity own where own.account_id = account.id
      and own.issuer in ('email', 'external') and own.email = account.email);
    """)
}
