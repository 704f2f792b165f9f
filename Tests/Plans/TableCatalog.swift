import Database
import Synchronization

/// What SQLite's plans do not say of tables and indexes.
final class TableCatalog: Sendable {
  private let names = Mutex((large: Set<String>(), partial: Set<String>()))

  /// Whether a table, or an index of some of its rows, has more than ``PlanCost/scannedMax``.
  func isLarge(_ name: String) -> Bool { names.withLock { $0.large.contains(name) } }

  /// Whether an index has some rows only, such as those that are due.
  func isPartial(_ index: String) -> Bool { names.withLock { $0.partial.contains(index) } }

  /// Adds the tables and indexes of a SQLite database.
  func add(_ db: any Connection) throws {
    let tables = try db.rows("select name from sqlite_master where type = 'table' and name not like 'sqlite%'")
    for name in try tables.map({ try $0.get("name", as: String.self) }) { try add(name, rows: name, db) }
    let indexes = try db.rows(
      "select name, tbl_name, sql from sqlite_master where type = 'index' and sql like '% where %'")
    for index in indexes {
      let (name, sql) = (try index.get("name", as: String.self), try index.get("sql", as: String.self))
      let condition = sql.split(separator: " where ", maxSplits: 1).last ?? ""
      try add(name, rows: "\(try index.get("tbl_name", as: String.self)) where \(condition)", db)
      names.withLock { _ = $0.partial.insert(name) }
    }
  }

  private func add(_ name: String, rows: String, _ db: any Connection) throws {
    let count = try db.row(SQL(stringLiteral: "select count(*) as count from \(rows)"))?.get("count", as: Int.self)
    if count ?? 0 > PlanCost.scannedMax { names.withLock { _ = $0.large.insert(name) } }
  }
}
