import CPostgres
import Database
import Foundation
import Logging
import Wire

/// A service's database on PostgreSQL, in a schema named after the service, through libpq on threads of its own.
///
/// `sslmode` in the URL decides about TLS.
package final class Postgres: Database {
  package let engine = Engine.postgres
  let pool: ConnectionPool
  let schema: String
  let url: PostgresURL
  /// The same database without PgBouncer.
  let directURL: PostgresURL
  let migrationURL: PostgresURL?
  let appendOnlyTables: [String]
  private let standby: Standby?
  private let logger: Logger

  /// Two for each core, from four to sixteen: more only compete for the cores when the database is on the same machine,
  /// and five services together must stay under the server's default limit of a hundred connections.
  package static func defaultConnectionCount(_ processors: Int) -> Int { min(16, max(4, 2 * processors)) }

  /// The default.
  static let statementTimeoutMilliseconds = 8000
  private static let triesMax = 8

  /// - Parameters:
  ///   - url: with `pgbouncer=true` for PgBouncer in transaction mode.
  ///   - directURL: the same database without PgBouncer, which migrations need; `url` by default.
  ///   - readURL: a standby of it, for ``Database/readAllowingStale(_:)``.
  ///   - migrationURL: the URL of another role, which owns the tables; the role of `url` is then only granted their
  ///     use.
  ///   - appendOnlyTables: tables whose rows the role of `url` may not update or delete, when another role owns them.
  ///   - connections: the maximum of this process; they are opened on first use.
  ///   - acquireTimeout: how long a call waits for a free connection.
  ///   - idleTimeMax: how long connections that nothing needs stay open. One does always.
  ///   - statementTimeoutMilliseconds: the server cancels a statement that takes longer, so that no request holds a
  ///     connection indefinitely.
  /// - Throws: ``DatabaseFailure/unusable`` for a URL with `pgbouncer=true` without a `directURL`.
  package init(
    url: String, schema: String, directURL: String? = nil, readURL: String? = nil,
    migrationURL: String? = nil, appendOnlyTables: [String] = [], connections: Int,
    acquireTimeout: Duration = .seconds(5), idleTimeMax: Duration = .seconds(600),
    statementTimeoutMilliseconds: Int = Postgres.statementTimeoutMilliseconds, logger: Logger
  ) throws {
    let url = try PostgresURL(url)
    self.url = url
    self.directURL = try directURL.map { try PostgresURL($0) } ?? url
    guard !self.directURL.isPooledByTransaction else { throw Self.needsDirectURL }
    self.schema = schema
    self.migrationURL = try migrationURL.map { try PostgresURL($0) }
    self.appendOnlyTables = appendOnlyTables
    self.logger = logger
    // The default transaction is a read-only snapshot (``ReadOnlyStatement``); those that write set their own mode.
    let settings = Self.settings(
      schema, statementTimeoutMilliseconds: statementTimeoutMilliseconds, readsByDefault: true)
    let makePool = { (name: String, url: PostgresURL) in
      ConnectionPool(size: connections, acquireTimeout: acquireTimeout, idleTimeMax: idleTimeMax) { number in
        PooledConnection(name: "\(schema)-\(name)-\(number)") { try ConnectionHandle(url, settings) }
      }
    }
    let pool = makePool("db", url)
    self.pool = pool
    standby = try readURL.map { Standby(makePool("standby", try PostgresURL($0)), primary: pool) }
  }

  static func settings(
    _ schema: String, statementTimeoutMilliseconds: Int = statementTimeoutMilliseconds, readsByDefault: Bool = false
  ) -> SessionSettings {
    SessionSettings(
      schema: schema, statementTimeoutMilliseconds: statementTimeoutMilliseconds, readsByDefault: readsByDefault)
  }

  private static let needsDirectURL = DatabaseFailure.unusable(
    "DATABASE_URL has pgbouncer=true: set DIRECT_DATABASE_URL to the same database without PgBouncer, for migrations "
      + "and notifications")

  package func read<T: Sendable>(_ body: @escaping @Sendable (any Connection) throws -> T) async throws -> T {
    try await pool.withConnection { connection in
      let transaction = Transaction(on: connection, begin: "begin isolation level repeatable read read only")
      let result = try transaction.run(body)
      try transaction.endReading()
      return result
    }
  }

  package func readAllowingStale<T: Sendable>(
    _ body: @escaping @Sendable (any Connection) throws -> T
  ) async throws -> T {
    if let standby, let result = try await standby.read(body) { return result }
    return try await readOnce(body)
  }

  package func readOnce<T: Sendable>(_ body: @escaping @Sendable (any Connection) throws -> T) async throws -> T {
    try await pool.withConnection { connection in try body(ReadOnlyStatement(on: connection)) }
  }

  package func rows(
    of statements: [SQL], whenConnected: @escaping @Sendable () -> Void
  ) async throws -> [[Row]] {
    try await pool.rows(of: statements, whenConnected: whenConnected)
  }

  package func submit(
    _ statements: [SQL], whenConnected: @escaping @Sendable () -> Void,
    _ finish: @escaping @Sendable (Result<[[Row]], any Error>) -> Void
  ) -> Bool {
    pool.submit(statements, whenConnected: whenConnected, finish)
    return true
  }

  @discardableResult
  package func write<T: Sendable>(
    _ isolation: Isolation, _ body: @escaping @Sendable (any Connection) throws -> T
  ) async throws -> T {
    let begin: SQL =
      switch isolation {
      case .readCommitted: "begin isolation level read committed read write"
      case .serializable: "begin isolation level serializable read write"
      }
    for attempt in 1...Self.triesMax {
      do {
        return try await pool.withConnection { connection in
          let transaction = Transaction(on: connection, begin: begin)
          let result = try transaction.run(body)
          try transaction.commit()
          return result
        }
      } catch DatabaseFailure.contended where attempt < Self.triesMax {
        try await Task.sleep(for: .milliseconds(Int.random(in: 1...(4 << attempt))))
      }
    }
    throw DatabaseFailure.contended
  }

  package func close() async {
    pool.close()
    standby?.close()
  }
}
