/// A service's own database, on SQLite or PostgreSQL.
///
/// Bodies are synchronous, run on a thread that may block, and speak to the connection they are given and to nothing
/// else: after a serialization failure or a deadlock they are run again. A thrown error rolls back.
package protocol Database: Sendable {
  var engine: Engine { get }

  /// Several statements see one snapshot.
  func read<T: Sendable>(_ body: @escaping @Sendable (any Connection) throws -> T) async throws -> T

  /// A body that asks once, for one statement or several together (``Connection/rows(of:)``): on PostgreSQL a single round
  /// trip without a `begin` and a `commit`. They see one snapshot.
  ///
  /// - Throws: ``DatabaseFailure/other`` when the body asks a second time, on PostgreSQL.
  func readOnce<T: Sendable>(_ body: @escaping @Sendable (any Connection) throws -> T) async throws -> T

  /// One transaction. Under ``Isolation/readCommitted`` races are decided by conditional updates and unique indexes,
  /// whose row counts and failures the body must look at.
  ///
  /// - Throws: what the body threw, or ``DatabaseFailure``. After ``DatabaseFailure/outcomeUnknown`` the transaction may
  ///   or may not have been committed: repeat it only if it is safe to repeat.
  @discardableResult
  func write<T: Sendable>(
    _ isolation: Isolation, _ body: @escaping @Sendable (any Connection) throws -> T
  ) async throws -> T

  /// Applies what is missing of `migrations`, in order, under a lock that replicas starting together share.
  func migrate(_ migrations: [Migration]) async throws

  /// Leaves nothing of what was deleted in the files of this process: on SQLite the log is written back and cut off. What
  /// a database server keeps is its own business. Safe to repeat.
  ///
  /// - Throws: ``DatabaseFailure/contended`` while somebody reads what is to go.
  func scrub() async throws

  /// Waits for running bodies, then closes. Later calls throw.
  func close() async
}

extension Database {
  package func scrub() async throws {}

  package func readOnce<T: Sendable>(_ body: @escaping @Sendable (any Connection) throws -> T) async throws -> T {
    try await read(body)
  }

  @discardableResult
  package func write<T: Sendable>(_ body: @escaping @Sendable (any Connection) throws -> T) async throws -> T {
    try await write(.readCommitted, body)
  }
}

package enum Engine: String, Sendable, CaseIterable {
  case sqlite, postgres
}

package enum Isolation: Sendable {
  case readCommitted
  /// For rules that span rows. Retried a bounded number of times with jitter, then ``DatabaseFailure/contended``.
  case serializable
}

/// One connection within one transaction. Valid only inside the body that received it.
package protocol Connection {
  /// The rows that a statement returns, all of them: bound it with a limit.
  func rows(_ sql: SQL) throws -> [Row]

  /// Runs a statement and says how many rows it changed.
  @discardableResult func change(_ sql: SQL) throws -> Int

  /// The rows of several statements that do not need each other's, in their order: one round trip on PostgreSQL. The first
  /// that fails fails them all.
  func rows(of statements: [SQL]) throws -> [[Row]]

  /// Runs a statement whose outcome nobody looks at, in the round trip of the next one on PostgreSQL. What it fails with is
  /// thrown there, or by the commit: it must be a failure that nobody handles.
  func later(_ sql: SQL) throws
}

extension Connection {
  package func rows(of statements: [SQL]) throws -> [[Row]] { try statements.map(rows) }
  package func later(_ sql: SQL) throws { try change(sql) }

  /// The first row, or nil when there is none.
  package func row(_ sql: SQL) throws -> Row? { try rows(sql).first }
}
