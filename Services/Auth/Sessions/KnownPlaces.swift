import Database
import Foundation
import Tokens
import Wire

/// Every statement on where users have been when they were let in: from there no stranger's tries lock them out. Places
/// are HMACs.
struct KnownPlaces: Sendable {
  let keys: DataKeys

  private static let keptSeconds = 180.0 * 86_400

  /// Noted at most once a day.
  func note(_ place: String, of user: UserID, at now: Date, on db: any Connection) throws {
    try db.change(
      """
      insert into known_address (account_id, address_hash, seen_at) values (\(user), \(hashes(place)[0]), \(now))
      on conflict (account_id, address_hash) do update set seen_at = excluded.seen_at
      where known_address.seen_at <= \(now - 86_400)
      """)
  }

  /// Whether the user of an address has been there.
  func contains(_ place: String, of email: EmailAddress, on db: any Connection) throws -> Bool {
    try db.row(
      """
      select k.seen_at from known_address k join identity i on i.account_id = k.account_id
      where i.issuer = \(Identity.emailIssuer) and i.subject = \(email.canonical)
        and k.address_hash in (\(list: hashes(place))) limit 1
      """) != nil
  }

  /// Forgets where nobody has been for half a year, at most `limit` rows.
  static func sweep(at now: Date, limit: Int, on db: any Connection) throws -> Int {
    try db.change(
      """
      delete from known_address where (account_id, address_hash) in (
        select account_id, address_hash from known_address where seen_at <= \(now - keptSeconds) limit \(limit))
      """)
  }

  /// The newest key's first; earlier keys' rows are still known.
  private func hashes(_ place: String) -> [[UInt8]] {
    keys.digests(of: Data(place.utf8), purpose: "known address")
  }
}
