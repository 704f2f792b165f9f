import Database
import Foundation
import Tokens
import Wire

/// SQL on the phone numbers that each user has looked up in the last thirty days, stored as HMACs. A number counts once
/// in that time, and a user who has looked one up has shown that they have it.
struct CheckedNumberStore: Sendable {
  let keys: DataKeys

  private static let retentionSeconds = 30.0 * 86_400

  /// Stores numbers as looked up and returns how many are new. Two concurrent calls with the same numbers count each
  /// number once.
  func record(_ phones: Set<String>, by user: UserID, at now: Date, on db: any Connection) throws -> Int {
    let hashes = hashes(of: phones, by: user).values.map { $0 }
    let cutoff = now - Self.retentionSeconds
    let recorded = try lookedUp(among: hashes.flatMap { $0.dropFirst() }, by: user, since: cutoff, on: db)
    // Sorted, so that two calls lock rows in the same order.
    let due = hashes.filter { recorded.isDisjoint(with: $0) }.map { $0[0] }.sorted { $0.lexicographicallyPrecedes($1) }
    guard !due.isEmpty else { return 0 }
    // One binding holds all hashes, so that both engines run one statement however many there are. The empty half of
    // the union gives the binding its type.
    return try db.change(
      """
      with recursive packed (hashes) as (
          select phone_hash from checked_number where 1 = 0 union all select \(due.flatMap { $0 })),
        place (i) as (select 0 union all select i + 1 from place where i + 1 < \(due.count))
      insert into checked_number (user_id, phone_hash, checked_at)
      select \(user), substr(packed.hashes, place.i * 32 + 1, 32), \(now) from place, packed where 1 = 1 order by place.i
      on conflict (user_id, phone_hash) do update set checked_at = excluded.checked_at
        where checked_number.checked_at <= \(cutoff)
      """)
  }

  /// The numbers among `phones` that the user has looked up.
  func lookedUp(among phones: Set<String>, by user: UserID, at now: Date, on db: any Connection) throws -> Set<String> {
    let hashes = hashes(of: phones, by: user)
    let found = try lookedUp(among: hashes.values.flatMap { $0 }, by: user, since: now - Self.retentionSeconds, on: db)
    return Set(hashes.filter { !found.isDisjoint(with: $0.value) }.keys)
  }

  private func lookedUp(
    among hashes: [[UInt8]], by user: UserID, since cutoff: Date, on db: any Connection
  ) throws -> Set<[UInt8]> {
    guard !hashes.isEmpty else { return [] }
    return Set(
      try db.rows(
        """
        select phone_hash from checked_number
        where user_id = \(user) and phone_hash in (\(list: hashes)) and checked_at > \(cutoff)
        """
      ).map { try $0.get("phone_hash", as: [UInt8].self) })
  }

  /// The HMACs of each number under every key, bound to the user: the same number has other HMACs for other users.
  private func hashes(of phones: Set<String>, by user: UserID) -> [String: [[UInt8]]] {
    let digester = keys.digester(for: "checked number")
    return Dictionary(phones.map { ($0, digester.digests(of: Data("\(user) \($0)".utf8))) }) { $1 }
  }

  /// Deletes everything stored about a user.
  static func erase(_ user: UserID, on db: any Connection) throws {
    try db.change("delete from checked_number where user_id = \(user)")
  }

  /// Deletes at most `limit` numbers that count no longer.
  static func sweep(at now: Date, limit: Int, on db: any Connection) throws -> Int {
    try db.change(
      """
      delete from checked_number where (user_id, phone_hash) in (
        select user_id, phone_hash from checked_number where checked_at <= \(now - retentionSeconds)
        order by checked_at limit \(limit))
      """)
  }
}
