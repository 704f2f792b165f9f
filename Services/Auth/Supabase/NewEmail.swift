import Database
import Foundation
import Wire

/// The address that an account is to have instead of its own, until the code that went there comes back or lapses.
struct NewEmail: Sendable {
  /// In its canonical form.
  let address: String
  let sentAt: Date
  let expiresAt: Date

  static func find(_ user: UserID, on db: any Connection) throws -> NewEmail? {
    try db.row("select address, sent_at, expires_at from new_email where account_id = \(user)").map { row in
      NewEmail(
        address: try row.get("address"), sentAt: try row.get("sent_at"), expiresAt: try row.get("expires_at"))
    }
  }

  /// Whoever waits for an address, or has one and waits for another.
  static func waiting(
    _ email: EmailAddress, at now: Date, on db: any Connection
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

  static func note(
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
