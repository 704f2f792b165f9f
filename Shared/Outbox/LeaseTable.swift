import Database
import Foundation

/// A table whose rows are work that several replicas share: a replica leases a row by moving its `due_at` into the
/// future.
///
/// The table has the columns ``columns`` and a unique key column. A row is work while its `due_at` is not null. When
/// the worker of a row crashes, the row is due again after the lease has expired.
package struct LeaseTable: Sendable {
  /// The columns that the owner's table must have.
  package static let columns = "due_at timestamptz, lease text, tries bigint not null default 0"

  let table: SQL
  let key: SQL
  let selected: SQL
  let ready: SQL
  let leaseDuration: Duration

  /// - Parameters:
  ///   - key: the unique column that identifies a row.
  ///   - selected: the columns that the work needs, in addition to key and tries.
  ///   - ready: a further condition on a row `w`, which must not depend on the leases of other rows.
  ///   - leaseDuration: longer than any try takes.
  package init(table: SQL, key: SQL = "id", selected: SQL, ready: SQL = "true", leaseDuration: Duration) {
    self.table = table
    self.key = key
    self.selected = selected
    self.ready = ready
    self.leaseDuration = leaseDuration
  }

  /// Leases up to `limit` rows that are due and that no other worker has leased.
  func claim(limit: Int, at now: Date, on db: any Connection) throws -> [LeasedRow] {
    let lease = UUID().uuidString
    // A row of the subquery may be leased while the update waits for its lock: the update checks `due_at` again.
    return try db.rows(
      """
      update \(table) set due_at = \(now + leaseDuration.seconds), lease = \(lease), tries = tries + 1
      where due_at <= \(now) and \(key) in (
        select w.\(key) from \(table) w where w.due_at <= \(now) and \(ready) order by w.due_at limit \(limit))
      returning \(key) as leased_key, tries, \(selected)
      """
    ).map { LeasedRow(key: try $0.get("leased_key"), lease: lease, tries: try $0.get("tries"), row: $0) }
  }

  /// The earliest time, after `time` if it is given, at which a row is due or its lease ends.
  func nextDue(after time: Date? = nil, on db: any Connection) throws -> Date? {
    let row =
      if let time {
        try db.row("select min(due_at) as next from \(table) where due_at > \(time)")
      } else {
        try db.row("select min(due_at) as next from \(table) where due_at is not null")
      }
    return try row?.optional("next")
  }

  /// Ends the lease of a row, which is due again at `due`. Returns false when the lease has expired and another worker
  /// has the row.
  @discardableResult
  func postpone(_ leased: LeasedRow, until due: Date, on db: any Connection) throws -> Bool {
    try db.change(
      """
      update \(table) set due_at = \(due), lease = null
      where \(key) = \(leased.key) and lease = \(leased.lease) and due_at is not null
      """) == 1
  }

  /// Makes a lease end later. Returns false when another worker has the row.
  func postponeEnd(of leased: LeasedRow, until end: Date, on db: any Connection) throws -> Bool {
    try db.change(
      """
      update \(table) set due_at = \(end)
      where \(key) = \(leased.key) and lease = \(leased.lease) and due_at is not null
      """) == 1
  }

  /// Locks the row until the transaction ends. Returns false, and locks nothing, when another worker has it.
  func lock(_ leased: LeasedRow, on db: any Connection) throws -> Bool {
    try db.change(
      """
      update \(table) set lease = lease
      where \(key) = \(leased.key) and lease = \(leased.lease) and due_at is not null
      """) == 1
  }

  /// Marks a row as finished. Returns false when another worker has it.
  func finish(_ leased: LeasedRow, on db: any Connection) throws -> Bool {
    try db.change(
      """
      update \(table) set due_at = null, lease = null
      where \(key) = \(leased.key) and lease = \(leased.lease) and due_at is not null
      """) == 1
  }

  /// How many rows are due or have been tried at least once, without being finished.
  func unfinishedCount(at now: Date, on db: any Connection) throws -> Int {
    let row = try db.row(
      "select count(*) as unfinished from \(table) where due_at is not null and (due_at <= \(now) or tries > 0)")
    return try row?.get("unfinished") ?? 0
  }
}

/// A row that this worker has leased.
package struct LeasedRow: Sendable {
  package let key: String
  let lease: String
  /// How often it has been claimed, this time included.
  package let tries: Int
  package let row: Row
}

extension Duration {
  var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
