/// A service's own database, on SQLite or PostgreSQL.
///
/// Bodies are synchronous, run on a thread that may block, and must have no side effects beyond the connection they are
/// given: they are run again after a serialization failure or a deadlock, and on SQLite when another body has ended the
/// transaction that they share. A thrown error rolls back.
package protocol Database: Sendable {
  var engine: Engine { get }

  /// A read-only transaction. All statements see one snapshot.
  func read<T: Sendable>(_ body: @escaping @Sendable (any Connection) throws -> T) async throws -> T

  /// The same as ``readOnce(_:)``, but may not see the changes of the last two seconds: with a standby of PostgreSQL it
  /// takes load off the primary. Only for what no decision depends on, and nobody expects to see at once.
  func readAllowingStale<T: Sendable>(_ body: @escaping @Sendable (any Connection) throws -> T) async throws -> T

  /// A read whose body makes one call on the connection, with one statement or several (``Connection/rows(of:)``): on
  /// PostgreSQL a single round trip without a `begin` and a `commit`. All statements see one snapshot.
  ///
  /// - Throws: ``DatabaseFailure/other`` when the body makes a second call, on PostgreSQL.
  func readOnce<T: Sendable>(_ body: @escaping @Sendable (any Connection) throws -> T) async throws -> T

  /// The rows of statements that read few rows, each by an index. All see one snapshot. On PostgreSQL calls that wait at
  /// the same time share a round trip, so none of them may take long.
  ///
  /// - Parameter whenConnected: called on another thread when the wait for a connection has ended.
  func rows(of statements: [SQL], whenConnected: @escaping @Sendable () -> Void) async throws -> [[Row]]

  /// Begins ``rows(of:whenConnected:)`` and returns at once.
  ///
  /// - Parameter finish: called once, on any thread, and maybe before this returns.
  /// - Returns: false when this database has no such reads. Then nothing is called.
  func submit(
    _ statements: [SQL], whenConnected: @escaping @Sendable () -> Void,
    _ finish: @escaping @Sendable (Result<[[Row]], any Error>) -> Void
  ) -> Bool

  /// One transaction. Under ``Isolation/readCommitted`` races are decided by conditional updates and unique indexes,
  /// whose row counts and failures the body must check.
  ///
  /// - Throws: what the body threw, or ``DatabaseFailure``. After ``DatabaseFailure/outcomeUnknown`` the transaction
  ///   may or may not have been committed: repeat it only if it is safe to repeat.
  @discardableResult
  func write<T: Sendable>(
    _ isolation: Isolation, _ body: @escaping @Sendable (any Connection) throws -> T
  ) async throws -> T

  /// Applies the pending steps of `migrations`, in order, under a lock that all replicas share.
  func migrate(_ migrations: [Migration]) async throws

  /// Removes deleted rows from the files of this process: on SQLite the write-ahead log is checkpointed and truncated.
  /// Does nothing on PostgreSQL. Safe to repeat.
  ///
  /// - Throws: ``DatabaseFailure/contended`` while a reader still uses the log.
  func truncateWriteAheadLog() async throws

  /// Waits for running bodies, then closes. Later calls throw.
  func close() async
}

extension Database {
  package func truncateWriteAheadLog() async throws {}

  package func readAllowingStale<T: Sendable>(
    _ body: @escaping @Sendable (any Connection) throws -> T
  ) async throws -> T {
    try await readOnce(body)
  }

  package func readOnce<T: Sendable>(_ body: @escaping @Sendable (any Connection) throws -> T) async throws -> T {
    try await read(body)
  }

  package func rows(
    of statements: [SQL], whenConnected: @escaping @Sendable () -> Void
  ) async throws -> [[Row]] {
    try await readOnce { db in
      whenConnected()
      return try db.rows(of: statements)
    }
  }

  package func submit(
    _ statements: [SQL], whenConnected: @escaping @Sendable () -> Void,
    _ finish: @escaping @Sendable (Result<[[Row]], any Error>) -> Void
  ) -> Bool {
    false
  }

  /// The rows of statements that read few rows, each by an index. All see one snapshot. On PostgreSQL calls that wait at
  /// the same time share a round trip, so none of them may take long.
  package func rows(of statements: [SQL]) async throws -> [[Row]] { try await rows(of: statements, whenConnected: {}) }

  /// The first row of a statement that reads few rows by an index, or nil when there is none (``rows(of:)``).
  package func row(_ statement: SQL) async throws -> Row? { try await rows(of: [statement]).first?.first }

  @discardableResult
  package func write<T: Sendable>(_ body: @escaping @Sendable (any Connection) throws -> T) async throws -> T {
    try await write(.readCommitted, body)
  }
}

/// The database engines that every statement has to run on.
package enum Engine: String, Sendable, CaseIterable {
  case sqlite, postgres
}

/// The isolation level of a transaction that writes.
package enum Isolation: Sendable {
  case readCommitted
  /// For invariants that span rows. Retried a bounded number of times with jitter, then ``DatabaseFailure/contended``.
  case serializable
}

/// One connection within one transaction. Valid only inside the body that received it.
///
/// A transaction locks a row by an update of it, if necessary one that sets a column to its own value, and reads what
/// the lock protects from `returning` or from later statements. SQLite has no `select … for update`. On PostgreSQL the
/// update locks the row until the transaction ends, and another transaction's update of it waits and then sees the new
/// values; SQLite runs one transaction that writes at a time.
package protocol Connection {
  /// All rows that a statement returns, held in memory: bound it with a limit.
  func rows(_ sql: SQL) throws -> [Row]

  /// Runs a statement and returns how many rows it changed.
  @discardableResult func change(_ sql: SQL) throws -> Int

  /// The rows of several statements that do not depend on each other's results, in the order of the statements: one
  /// round trip on PostgreSQL. The first failure is thrown, and no later statement runs.
  func rows(of statements: [SQL]) throws -> [[Row]]

  /// Runs a statement whose result is not needed, on PostgreSQL in the round trip of the next statement. Its failure is
  /// thrown by that statement or by the commit, so use it only where the failure is not handled.
  func enqueue(_ sql: SQL) throws
}

extension Connection {
  package func rows(of statements: [SQL]) throws -> [[Row]] { try statements.map(rows) }
  package func enqueue(_ sql: SQL) throws { try change(sql) }

  /// The first row, or nil when there is none.
  package func row(_ sql: SQL) throws -> Row? { try rows(sql).first }
}
