import GRDB
import GRDBSQLite

/// When the statement that this thread runs on SQLite has taken too long.
///
/// SQLite asks while it executes a statement, and so do the functions that are written in Swift: both run on the thread
/// of the statement and get no other context than the thread's.
enum StatementDeadline {
  @TaskLocal private static var current: ContinuousClock.Instant?

  /// How many of SQLite's instructions run between two checks: some twenty microseconds.
  private static let instructionCount: Int32 = 1000

  static var isOver: Bool { current.map { $0 < .now } ?? false }

  /// Runs a statement that must end within `limit`.
  static func within<T>(_ limit: Duration, _ statement: () throws -> T) rethrows -> T {
    try $current.withValue(.now + limit, operation: statement)
  }

  /// Makes the connection fail statements with `SQLITE_INTERRUPT` that take too long.
  static func interrupt(_ db: GRDB.Database) {
    sqlite3_progress_handler(db.sqliteConnection, instructionCount, { _ in StatementDeadline.isOver ? 1 : 0 }, nil)
  }
}
