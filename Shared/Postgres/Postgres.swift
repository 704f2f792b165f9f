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
  private let schema: String
  private let url: String
  private let migrationURL: String?
  private let logger: Logger

  /// Two for each core, from four to sixteen: more only compete for the cores when the database is on the same machine,
  /// and five services together must stay under the server's default limit of a hundred connections.
  package static let defaultConnectionCount = min(16, max(4, 2 * ProcessInfo.processInfo.activeProcessorCount))

  /// The server cancels a statement that takes longer, so that no request holds a connection indefinitely.
  private static let statementTimeoutMilliseconds = 8000
  private static let triesMax = 8

  /// - Parameters:
  ///   - migrationURL: the URL of another role, which owns the tables; the role of `url` is then only granted their
  ///     use.
  ///   - connections: the maximum of this process; they are opened on first use.
  ///   - acquireTimeout: how long a call waits for a free connection.
  package init(
    url: String, schema: String, migrationURL: String? = nil, connections: Int = defaultConnectionCount,
    acquireTimeout: Duration = .seconds(5), logger: Logger
  ) {
    self.url = url
    self.schema = schema
    self.migrationURL = migrationURL
    self.logger = logger
    self.pool = ConnectionPool(size: connections, acquireTimeout: acquireTimeout) { number in
      PooledConnection(name: "\(schema)-db-\(number)") {
        try ConnectionHandle(
          url: url, schema: schema, statementTimeoutMilliseconds: Self.statementTimeoutMilliseconds,
          settings: Self.settings)
      }
    }
  }

  /// The session's default transaction is a read-only snapshot (``ReadOnlyStatement``). Transactions that write set
  /// their own mode.
  private static let settings = """
    set default_transaction_isolation = 'repeatable read'; set default_transaction_read_only = on
    """

  package func read<T: Sendable>(_ body: @escaping @Sendable (any Connection) throws -> T) async throws -> T {
    try await pool.withConnection { connection in
      let transaction = Transaction(on: connection, begin: "begin isolation level repeatable read read only")
      let result = try transaction.run(body)
      try transaction.endReading()
      return result
    }
  }

  package func readOnce<T: Sendable>(_ body: @escaping @Sendable (any Connection) throws -> T) async throws -> T {
    try await pool.withConnection { connection in try body(ReadOnlyStatement(on: connection)) }
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

  package func close() async { pool.close() }

  package func migrate(_ migrations: [Migration]) async throws {
    let connection = PooledConnection(name: "\(schema)-migrations") { [url, migrationURL, schema] in
      // Rewriting a large table may take minutes: ten.
      try ConnectionHandle(url: migrationURL ?? url, schema: schema, statementTimeoutMilliseconds: 600_000)
    }
    defer { connection.close() }
    try await connection.run { [schema, migrationURL, url] connection in
      let handle: ConnectionHandle
      do { handle = try connection.openHandle() } catch let DatabaseFailure.unavailable(message) {
        throw DatabaseFailure.unusable("PostgreSQL does not answer: \(message)")
      }
      try handle.script("select pg_advisory_lock(hashtextextended('kith migrations of \(schema)', 0))")
      try handle.script("create schema if not exists \"\(schema)\"; \(Migration.createTable)")
      let applied = try handle.run(["select name, checksum from migration where service = \(schema) order by position"])
        .flatMap(\.rows)
        .map { (name: try $0.get("name", as: String.self), checksum: try $0.get("checksum", as: String.self)) }
      let pending = try Migration.pending(migrations, engine: .postgres, applied: applied)
      for (position, migration) in zip(pending.indices, pending) {
        try Self.apply(migration, of: schema, at: position, through: handle)
      }
      if migrationURL != nil { try Self.grant(schema, to: try Self.role(of: url), through: handle) }
    }
  }

  private static func apply(
    _ migration: Migration, of service: String, at position: Int, through handle: ConnectionHandle
  ) throws {
    do {
      try handle.script("begin; \(migration.text(for: .postgres))")
      let record: SQL = """
        insert into migration (service, position, name, checksum, applied_at)
        values (\(service), \(position), \(migration.name), \(migration.checksum(for: .postgres)), \(Date()))
        """
      try handle.run([record])
      try handle.script("commit")
    } catch {
      throw DatabaseFailure.unusable("migration \(migration.name) failed: \(error)")
    }
  }

  private static func role(of url: String) throws -> String {
    try ConnectionHandle(url: url, schema: "public", statementTimeoutMilliseconds: statementTimeoutMilliseconds)
      .run(["select current_user::text as name"]).first?.rows.first?.get("name") ?? ""
  }

  private static func grant(_ schema: String, to role: String, through handle: ConnectionHandle) throws {
    let role = "\"" + role.replacingOccurrences(of: "\"", with: "\"\"") + "\""
    try handle.script(
      """
      grant usage on schema "\(schema)" to \(role);
      grant select, insert, update, delete on all tables in schema "\(schema)" to \(role);
      grant usage on all sequences in schema "\(schema)" to \(role)
      """)
  }
}
