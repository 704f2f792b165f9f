import Foundation
import GRDB
import Wire

/// A service's database in one SQLite file: WAL mode, one writer, several readers, every commit synced to the disk.
package final class SQLite: Database {
  package let engine = Engine.sqlite
  private let pool: DatabasePool
  private let commits: GroupCommit
  private let lock: FileLock
  private let service: String
  private let statementTimeout: Duration
  /// Of statements that are composed for a request, in a transaction that writes: all other writers wait meanwhile.
  private let composedWriteTimeout: Duration
  private let indexes = UniqueIndexes()

  /// How long a statement waits for another program's lock.
  private static let busySeconds = 5

  /// - Parameter statementTimeout: a statement that takes longer is interrupted, so that none keeps others from the
  ///   writer or a reader for long. Those that are composed for a request have at most two seconds of the writer; those
  ///   of migrations have no limit.
  /// - Throws: ``DatabaseFailure/unusable`` with a one-line message that names the file.
  package init(
    path: String, service: String, readers: Int = 4, functions: [SQLiteFunction] = [],
    statementTimeout: Duration = .seconds(8)
  ) throws {
    self.service = service
    self.statementTimeout = statementTimeout
    composedWriteTimeout = min(statementTimeout, .seconds(2))
    let folder = (path as NSString).deletingLastPathComponent
    do {
      if !folder.isEmpty { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }
      lock = try FileLock(path: path + ".lock")
      var configuration = Configuration()
      configuration.maximumReaderCount = readers
      configuration.busyMode = .timeout(TimeInterval(Self.busySeconds))
      configuration.prepareDatabase { db in
        // SQLite enforces foreign keys only on connections that turn this on.
        try db.execute(sql: "pragma foreign_keys = on")
        // Overwrites deleted rows with zeros, so that the file does not contain erased data.
        try db.execute(sql: "pragma secure_delete = on")
        // Views, triggers and constraints in a file that another program has changed cannot call unsafe functions.
        try db.execute(sql: "pragma trusted_schema = off")
        for function in functions { function.add(to: db) }
        SQLiteLimits.set(on: db)
        StatementDeadline.interrupt(db)
      }
      // Switching a new file to WAL takes an exclusive lock for which SQLite does not wait: one process at a time.
      pool = try lock.withLock { try DatabasePool(path: path, configuration: configuration) }
      try pool.writeWithoutTransaction { db in
        // GRDB sets NORMAL, which survives a crash of the process but may lose the last commits in a power cut.
        try db.execute(sql: "pragma synchronous = full")
        // What a savepoint overwrites is kept in memory. Beyond 64 KB it would be written to a file outside the folder.
        try db.execute(sql: "pragma temp_store = memory")
      }
      commits = GroupCommit(pool)
    } catch {
      throw DatabaseFailure.unusable("\(path): \(SQLiteFailure.message(for: error))")
    }
  }

  package func read<T: Sendable>(_ body: @escaping @Sendable (any Connection) throws -> T) async throws -> T {
    try await translatingErrors { [pool, indexes, statementTimeout] in
      try await pool.read {
        try body(
          SQLiteConnection(
            db: $0, indexes: indexes, statementTimeout: statementTimeout, composedTimeout: statementTimeout))
      }
    }
  }

  /// SQLite has one writer at a time, so both isolation levels are serializable. Concurrent calls share a commit
  /// (``GroupCommit``). A body that has begun is completed, also when its task is cancelled.
  @discardableResult
  package func write<T: Sendable>(
    _ isolation: Isolation, _ body: @escaping @Sendable (any Connection) throws -> T
  ) async throws -> T {
    try await translatingErrors { [commits, indexes, statementTimeout, composedWriteTimeout] in
      try await commits.write {
        try body(
          SQLiteConnection(
            db: $0, indexes: indexes, statementTimeout: statementTimeout, composedTimeout: composedWriteTimeout))
      }
    }
  }

  /// How many calls of ``write(_:_:)`` wait for the writer.
  var waitingCount: Int { commits.waitingCount }

  package func migrate(_ migrations: [Migration]) async throws {
    try lock.withLock {
      do {
        try pool.writeWithoutTransaction { db in
          try db.execute(sql: Migration.createTable)
          let applied = try GRDB.Row.fetchAll(
            db, sql: "select name, checksum from migration where service = ? order by position", arguments: [service]
          )
          .map { (name: $0["name"] as String, checksum: $0["checksum"] as String) }
          let pending = try Migration.pending(migrations, engine: .sqlite, applied: applied)
          // `pending` is a slice: its indices are the positions in `migrations`.
          for (position, migration) in zip(pending.indices, pending) { try apply(migration, at: position, on: db) }
          try indexes.read(from: db)
        }
      } catch let failure as DatabaseFailure {
        throw failure
      } catch {
        throw DatabaseFailure.unusable(SQLiteFailure.message(for: error))
      }
    }
  }

  private func apply(_ migration: Migration, at position: Int, on db: GRDB.Database) throws {
    try db.inTransaction(.immediate) {
      try db.execute(sql: migration.text(for: .sqlite))
      try db.execute(
        sql: "insert into migration (service, position, name, checksum, applied_at) values (?, ?, ?, ?, ?)",
        arguments: [service, position, migration.name, migration.checksum(for: .sqlite), RFC3339.milliseconds(Date())])
      return .commit
    }
  }

  /// Readers of an older snapshot keep the log from being truncated, those of other programs as well: tries for some
  /// seconds, between which others write. `secure_delete` has overwritten deleted rows in the main file.
  package func truncateWriteAheadLog() async throws {
    for _ in 1..<Self.truncationTriesMax {
      do { return try await truncateWriteAheadLogOnce() } catch DatabaseFailure.contended {
        try await Task.sleep(for: .milliseconds(100))
      }
    }
    try await truncateWriteAheadLogOnce()
  }

  private static let truncationTriesMax = 40

  private func truncateWriteAheadLogOnce() async throws {
    do {
      try await pool.writeWithoutTransaction { db in
        // SQLite does not check whether a connection is open before it checkpoints.
        guard db.sqliteConnection != nil else { throw DatabaseFailure.unavailable("the database is closed") }
        // Writes wait for as long as this does.
        try db.execute(sql: "pragma busy_timeout = 20")
        let result = Result { try db.checkpoint(.truncate) }
        try db.execute(sql: "pragma busy_timeout = \(Self.busySeconds * 1000)")
        _ = try result.get()
      }
    } catch let failure as DatabaseFailure { throw failure } catch { throw DatabaseFailure.contended }
  }

  package func close() async {
    // `try?`: closing fails while a statement still runs; the process is ending and WAL is crash-safe.
    try? pool.close()
  }

  private func translatingErrors<T>(_ work: () async throws -> T) async throws -> T {
    do { return try await work() } catch let error as DatabaseError {
      throw SQLiteFailure.failure(for: error, indexes: indexes)
    }
  }
}

/// A connection of GRDB within one transaction.
private struct SQLiteConnection: Connection {
  let db: GRDB.Database
  let indexes: UniqueIndexes
  let statementTimeout: Duration
  /// Of statements whose text depends on a request.
  let composedTimeout: Duration

  func rows(_ sql: SQL) throws -> [Row] {
    try running(sql) {
      let statement = try statement(for: sql)
      let cursor = try GRDB.Row.fetchCursor(statement, arguments: try arguments(sql))
      let columns = statement.columnNames
      var bounded = BoundedRows(of: sql)
      while let row = try cursor.next() {
        try bounded.append(Row(columns: columns, values: row.databaseValues.map(Value.init)))
      }
      return bounded.rows
    }
  }

  func change(_ sql: SQL) throws -> Int {
    try running(sql) {
      let statement = try statement(for: sql)
      try statement.execute(arguments: try arguments(sql))
      return db.changesCount
    }
  }

  /// GRDB keeps every statement of its cache as long as the connection: only those whose number is known may enter it.
  private func statement(for sql: SQL) throws -> Statement {
    try sql.isRepeated ? db.cachedStatement(sql: sql.text) : db.makeStatement(sql: sql.text)
  }

  private func arguments(_ sql: SQL) throws -> StatementArguments {
    StatementArguments(try sql.bindings.map { try $0.databaseValue() })
  }

  private func running<T>(_ sql: SQL, _ statement: () throws -> T) throws -> T {
    let timeout = sql.isRepeated ? statementTimeout : composedTimeout
    do { return try StatementDeadline.within(timeout, statement) } catch let error as DatabaseError {
      throw SQLiteFailure.failure(for: error, indexes: indexes)
    }
  }
}

extension Value {
  fileprivate init(_ value: DatabaseValue) {
    switch value.storage {
    case .null: self = .null
    case .int64(let number): self = .integer(number)
    case .double(let number): self = Int64(exactly: number).map(Value.integer) ?? .text(String(number))
    case .string(let text): self = .text(text)
    case .blob(let data): self = .bytes(Array(data))
    }
  }

  fileprivate func databaseValue() throws -> DatabaseValue {
    switch self {
    case .null: .null
    case .integer(let number): number.databaseValue
    case .text(let text) where text.utf8.contains(0): throw DatabaseFailure.nulInText
    case .text(let text): text.databaseValue
    case .bytes(let bytes): Data(bytes).databaseValue
    }
  }
}
