import GRDB
import GRDBSQLite

/// What one statement may need on SQLite.
enum SQLiteLimits {
  /// Of a text, a blob and a row: SQLite's own bound is a gigabyte, which a statement could make of a few rows.
  private static let bytesMax: Int32 = 64 * 1024 * 1024

  static func set(on db: GRDB.Database) { sqlite3_limit(db.sqliteConnection, SQLITE_LIMIT_LENGTH, bytesMax) }
}
