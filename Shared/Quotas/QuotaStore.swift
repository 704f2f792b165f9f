import Database
import Foundation
import Tokens
import Web
import Wire

extension SMSQuotas {
  /// - Throws: ``StartFailure`` for a setting that is not a whole number from 0 to 1,000,000.
  package init(_ settings: Settings) throws {
    func quota(_ name: String, _ variable: String, _ fallback: Int, _ window: Duration) throws -> Quota {
      Quota(name: name, limit: try settings.int(variable, default: fallback, in: 0...1_000_000), window: window)
    }
    perNumber = try quota("text to", "SMS_PER_NUMBER_HOUR", 3, .seconds(3600))
    perAddress = try quota("text here", "SMS_PER_ADDRESS_HOUR", 10, .seconds(3600))
    perPrefix = try quota("text prefix", "SMS_PER_PREFIX_HOUR", 100, .seconds(3600))
    total = try quota("texts", "SMS_PER_DAY", 2000, .seconds(86_400))
    // The hourly limit times eight: users sign in during few hours of a day.
    perAccountNumber = Quota(name: "text to account", limit: perNumber.limit * 8, window: .seconds(86_400))
    toAccounts = try quota("texts to accounts", "SMS_TO_ACCOUNTS_PER_DAY", 2000, .seconds(86_400))
  }
}

/// Every statement on the quota table. Keys are stored as HMACs, so that addresses and numbers cannot be read from it.
package struct QuotaStore: Sendable {
  package let keys: DataKeys

  package init(keys: DataKeys) { self.keys = keys }

  /// Creates the table in the owner's database.
  package static let table = """
    create table quota (
      name text not null,
      key_hash bytea not null,
      began_at timestamptz not null,
      taken bigint not null
    );
    create unique index quota_key on quota (name, key_hash);
    create index quota_age on quota (began_at);
    """

  /// Takes `count` from a quota. The update locks the row, so concurrent calls cannot exceed the limit.
  ///
  /// - Throws: a failure with status 429 when fewer than `count` are left. The transaction must then roll back, or what
  ///   it took before stays taken.
  package func take(
    _ quota: Quota, _ count: Int = 1, for key: String, at now: Date, on db: any Connection
  ) throws {
    let hash = try currentHash(quota, key, on: db)
    guard quota.limit >= count else { throw Failure.limited(retryAfterSeconds: Int(quota.window.components.seconds)) }
    let fresh = now - Double(quota.window.components.seconds)
    let took = try db.change(
      """
      insert into quota (name, key_hash, began_at, taken) values (\(quota.name), \(hash), \(now), \(count))
      on conflict (name, key_hash) do update set
        taken = case when quota.began_at <= \(fresh) then excluded.taken else quota.taken + excluded.taken end,
        began_at = case when quota.began_at <= \(fresh) then excluded.began_at else quota.began_at end
      where quota.began_at <= \(fresh) or quota.taken + excluded.taken <= \(quota.limit)
      """)
    guard took == 1 else { throw try full(quota, hash, at: now, on: db) }
  }

  /// Counts one use without enforcing the limit.
  package func count(_ quota: Quota, for key: String, at now: Date, on db: any Connection) throws {
    let unlimited = Quota(name: quota.name, limit: Int(Int32.max), window: quota.window)
    try take(unlimited, for: key, at: now, on: db)
  }

  /// How much of the quota is taken. Correct only after `take` or `count` for the same key in the same transaction:
  /// they move a count to the current HMAC key and start a new window.
  package func taken(_ quota: Quota, for key: String, on db: any Connection) throws -> Int {
    try db.row("select taken from quota where name = \(quota.name) and key_hash = \(hash(quota, key))")?
      .get("taken") ?? 0
  }

  /// Gives one use back: the counted attempt has succeeded.
  package func giveBack(_ quota: Quota, for key: String, on db: any Connection) throws {
    try db.change(
      """
      update quota set taken = taken - 1
      where name = \(quota.name) and key_hash = \(hash(quota, key)) and taken > 0
      """)
  }

  /// Deletes at most `limit` rows that began more than a day ago, the longest window. Returns how many.
  package func sweep(at now: Date, limit: Int, on db: any Connection) throws -> Int {
    try db.change(
      """
      delete from quota where (name, key_hash) in (
        select name, key_hash from quota where began_at <= \(now - 86_400) order by began_at limit \(limit))
      """)
  }

  private func full(_ quota: Quota, _ hash: [UInt8], at now: Date, on db: any Connection) throws -> Failure {
    let began = try db.row("select began_at from quota where name = \(quota.name) and key_hash = \(hash)")?
      .get("began_at", as: Date.self)
    let left = (began ?? now).timeIntervalSince(now) + Double(quota.window.components.seconds)
    return .limited(retryAfterSeconds: Int(left.rounded(.up)))
  }

  /// The hash under the newest HMAC key. A count that is stored under an earlier key is moved to the newest one.
  private func currentHash(_ quota: Quota, _ key: String, on db: any Connection) throws -> [UInt8] {
    let hashes = hashes(quota, key)
    if hashes.count > 1 {
      try db.change(
        """
        update quota set key_hash = \(hashes[0]) where name = \(quota.name)
          and key_hash = (select older.key_hash from quota older where older.name = \(quota.name)
            and older.key_hash in (\(list: Array(hashes.dropFirst()))) order by older.began_at desc limit 1)
          and not exists (select 1 from quota newer where newer.name = \(quota.name) and newer.key_hash = \(hashes[0]))
        """)
    }
    return hashes[0]
  }

  private func hash(_ quota: Quota, _ key: String) -> [UInt8] { hashes(quota, key)[0] }

  private func hashes(_ quota: Quota, _ key: String) -> [[UInt8]] {
    keys.digests(of: Data(key.utf8), purpose: "quota \(quota.name)")
  }
}
