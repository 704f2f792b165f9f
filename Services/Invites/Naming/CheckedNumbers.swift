import Database
import Foundation
import Tokens
import Wire

/// The phone numbers that each user has looked up in the last thirty days, as HMACs: a number counts once in that time,
/// and whoever has looked one up has shown to know it.
struct CheckedNumbers: Sendable {
  let keys: DataKeys

  private static let seconds = 30.0 * 86_400

  /// Notes them, and says how many were new. Two calls with the same numbers at once count each number once.
  func note(_ phones: Set<String>, by user: UserID, at now: Date, on db: any Connection) throws -> Int {
    let hashes = hashes(of: phones, by: user).values.map { $0 }
    let fresh = now - Self.seconds
    let older = try known(among: hashes.flatMap { $0.dropFirst() }, by: user, since: fresh, on: db)
    // In one order, so that two calls do not wait for each other.
    let due = hashes.filter { older.isDisjoint(with: $0) }.map { $0[0] }.sorted { $0.lexicographicallyPrecedes($1) }
    guard !due.isEmpty else { return 0 }
    // All of them are one binding, whatever their count: one statement for both engines. Only the empty half of the union
    // says that it is bytes.
    return try db.change(
      """
      with recursive packed (hashes) as (
          select phone_hash from checked_number where 1 = 0 union all select \(due.flatMap { $0 })),
        place (i) as (select 0 union all select i + 1 from place where i + 1 < \(due.count))
      insert into checked_number (user_id, phone_hash, checked_at)
      select \(user), substr(packed.hashes, place.i * 32 + 1, 32), \(now) from place, packed where 1 = 1 order by place.i
      on conflict (user_id, phone_hash) do update set checked_at = excluded.checked_at
        where checked_number.checked_at <= \(fresh)
      """)
  }

  /// Those of `phones` that the user has looked up.
  func known(among phones: Set<String>, by user: UserID, at now: Date, on db: any Connection) throws -> Set<String> {
    let hashes = hashes(of: phones, by: user)
    let found = try known(among: hashes.values.flatMap { $0 }, by: user, since: now - Self.seconds, on: db)
    return Set(hashes.filter { !found.isDisjoint(with: $0.value) }.keys)
  }

  private func known(
    among hashes: [[UInt8]], by user: UserID, since fresh: Date, on db: any Connection
  ) throws -> Set<[UInt8]> {
    guard !hashes.isEmpty else { return [] }
    return Set(
      try db.rows(
        """
        select phone_hash from checked_number
        where user_id = \(user) and phone_hash in (\(list: hashes)) and checked_at > \(fresh)
        """
      ).map { try $0.get("phone_hash", as: [UInt8].self) })
  }

  /// Of each number under every key. No two users have the same of one number.
  private func hashes(of phones: Set<String>, by user: UserID) -> [String: [[UInt8]]] {
    let digester = keys.digester(for: "checked number")
    return Dictionary(phones.map { ($0, digester.digests(of: Data("\(user) \($0)".utf8))) }) { $1 }
  }

  static func forget(_ user: UserID, on db: any Connection) throws {
    try db.change("delete from checked_number where user_id = \(user)")
  }

  /// Forgets what no longer counts, at most `limit` of it.
  static func sweep(at now: Date, limit: Int, on db: any Connection) throws -> Int {
    try db.change(
      """
      delete from checked_number where (user_id, phone_hash) in (
        select user_id, phone_hash from checked_number where checked_at <= \(now - seconds)
        order by checked_at limit \(limit))
      """)
  }
}
