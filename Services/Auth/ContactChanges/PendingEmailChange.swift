import Database
import Foundation
import Wire

/// An e-mail address that is to replace an account's own, until the code that was sent there is entered or expires.
struct PendingEmailChange: Sendable {
  /// In canonical form.
  let address: String
  let sentAt: Date
  let expiresAt: Date

  init(_ row: Row) throws {
    address = try row.get("address")
    sentAt = try row.get("sent_at")
    expiresAt = try row.get("expires_at")
  }

  /// Selects the user's change.
  static func ofUser(_ user: UserID) -> SQL {
    "select address, sent_at, expires_at from new_email where account_id = \(user)"
  }

  /// The latest change that has not expired, of a user who wants this address or who has it and wants another.
  static func find(
    for email: EmailAddress, at now: Date, on db: any Connection
  ) throws -> (user: UserID, address: String)? {
    try db.row(
      """
      select account_id, address from new_email where expires_at > \(now) and (address = \(email.canonical)
        or account_id = (select account_id from identity
          where issuer = \(Identity.emailIssuer) and subject = \(email.canonical)))
      order by sent_at desc limit 1
      """
    ).map { (try $0.get("account_id"), try $0.get("address")) }
  }

  /// Stores the change; it replaces the user's earlier one.
  static func store(
    _ email: EmailAddress, of user: UserID, until expiresAt: Date, at now: Date, on db: any Connection
  ) throws {
    try db.change(
      """
      insert into new_email (account_id, address, sent_at, expires_at)
      values (\(user), \(email.canonical), \(now), \(expiresAt))
      on conflict (account_id) do update
        set address = excluded.address, sent_at = excluded.sent_at, expires_at = excluded.expires_at
      """)
  }

  static func remove(of user: UserID, on db: any Connection) throws {
    try db.change("delete from new_email where account_id = \(user)")
  }

  /// Deletes at most `limit` expired changes.
  static func sweep(at now: Date, limit: Int, on db: any Connection) throws -> Int {
    try db.change(
      """
      delete from new_email where account_id in (
        select account_id from new_email where expires_at <= \(now) limit \(limit))
      """)
  }

  static let migration = Migration(
    "new addresses, how sessions were opened",
    """
    create table new_email (
      account_id uuid primary key references account (id),
      address text not null,
      sent_at timestamptz not null,
      expires_at timestamptz not null
    );
    create index new_email_address on new_email (address);
    create index new_email_expiry on new_email (expires_at);
    alter table session add column method text not null default 'otp';
    """)
}
