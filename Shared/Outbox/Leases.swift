import Database
import Foundation

/// Who of several replicas works on which row of a table: whoever has moved its `due_at` into the future.
///
/// The table has the columns of ``columns`` beside a unique one that names its rows. A row is work while its `due_at` is
/// not null. If its worker dies, the row is due again when the lease has run out.
package struct Leases: Sendable {
  /// What the owner's table needs.
  package static let columns = "due_at timestamptz, lease text, tries bigint not null default 0"

  let table: SQL
  let key: SQL
  let selected: SQL
  let ready: SQL
  let lasting: Duration

  /// - Parameters:
  ///   - key: the column that names a row.
  ///   - selected: the columns that the work needs, beside key and tries.
  ///   - ready: a further condition on a row `w`, which must not depend on who else has claimed.
  ///   - lasting: longer than any try takes.
  package init(table: SQL, key: SQL = "id", selected: SQL, ready: SQL = "true", lasting: Duration) {
    self.table = table
    self.key = key
    self.selected = selected
    self.ready = ready
    self.lasting = lasting
  }

  /// Takes up to `limit` rows that are due, each of which nobody else has then.
  func claim(limit: Int, at now: Date, on db: any Connection) throws -> [Leased] {
    let lease = UUID().uuidString
    // What the subquery found may be taken while the update waits for it: the condition is asked again.
    return try db.rows(
      """
      update \(table) set due_at = \(now + lasting.seconds), lease = \(lease), tries = tries + 1
      where due_at <= \(now) and \(key) in (
        select w.\(key) from \(table) w where w.due_at <= \(now) and \(ready) order by w.due_at limit \(limit))
      returning \(key) as leased_key, tries, \(selected)
      """
    ).map { Leased(key: try $0.get("leased_key"), lease: lease, tries: try $0.get("tries"), row: $0) }
  }

  /// Gives a row back until `due`. False when the lease has run out and another has it.
  @discardableResult
  func postpone(_ leased: Leased, until due: Date, on db: any Connection) throws -> Bool {
    try db.change(
      """
      update \(table) set due_at = \(due), lease = null
      where \(key) = \(leased.key) and lease = \(leased.lease) and due_at is not null
      """) == 1
  }

  /// Whether the row is still this worker's; it then stays so until the transaction ends.
  func holds(_ leased: Leased, on db: any Connection) throws -> Bool {
    try db.change(
      """
      update \(table) set lease = lease
      where \(key) = \(leased.key) and lease = \(leased.lease) and due_at is not null
      """) == 1
  }

  /// Settles a row. False when another has it.
  func finish(_ leased: Leased, on db: any Connection) throws -> Bool {
    try db.change(
      """
      update \(table) set due_at = null, lease = null
      where \(key) = \(leased.key) and lease = \(leased.lease) and due_at is not null
      """) == 1
  }

  /// How many rows should have been settled by now, or are being tried again.
  func unfinished(at now: Date, on db: any Connection) throws -> Int {
    let row = try db.row(
      "select count(*) as unfinished from \(table) where due_at is not null and (due_at <= \(now) or tries > 0)")
    return try row?.get("unfinished") ?? 0
  }
}

/// A row that this worker has, for as long as its lease lasts.
package struct Leased: Sendable {
  package let key: String
  let lease: String
  /// How often it has been claimed, this time included.
  package let tries: Int
  package let row: Row
}

extension Duration {
  var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
