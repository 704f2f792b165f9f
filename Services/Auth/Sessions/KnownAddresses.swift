import Database
import Foundation
import Tokens
import Wire

/// Every statement on the client addresses from which users have signed in. Failed sign-ins from elsewhere do not lock
/// a user out there. Addresses are stored as HMACs.
struct KnownAddresses: Sendable {
  let keys: DataKeys

  private static let retentionSeconds = 180.0 * 86_400

  /// Updates a known address at most once a day.
  func record(_ address: String, of user: UserID, at now: Date, on db: any Connection) throws {
    try db.enqueue(
      """
      insert into known_address (account_id, address_hash, seen_at) values (\(user), \(hashes(address)[0]), \(now))
      on conflict (account_id, address_hash) do update set seen_at = excluded.seen_at
      where known_address.seen_at <= \(now - 86_400)
      """)
  }

  /// Whether the user with this e-mail address has signed in from the client address.
  func contains(_ address: String, of email: EmailAddress, on db: any Connection) throws -> Bool {
    try db.row(
      """
      select k.seen_at from known_address k join identity i on i.account_id = k.account_id
      where i.issuer = \(Identity.emailIssuer) and i.subject = \(email.canonical)
        and k.address_hash in (\(list: hashes(address))) limit 1
      """) != nil
  }

  /// Deletes addresses that were not used for half a year, at most `limit` rows.
  static func sweep(at now: Date, limit: Int, on db: any Connection) throws -> Int {
    try db.change(
      """
      delete from known_address where (account_id, address_hash) in (
        select account_id, address_hash from known_address where seen_at <= \(now - retentionSeconds) limit \(limit))
      """)
  }

  /// The hash under the newest key first; rows that were written under earlier keys still match.
  private func hashes(_ address: String) -> [[UInt8]] {
    keys.digests(of: Data(address.utf8), purpose: "known address")
  }
}
