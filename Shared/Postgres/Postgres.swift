import CPostgres
import Database
import Foundation
import Logging
import Wire

/// A service's database on PostgreSQL, in a schema named for the service, through libpq on threads of its own.
///
/// TLS as `sslmode` in the URL says.
package final class Postgres: Database {
  package let engine = Engine.postgres
  let pool: Pool
  private let schema: String
  private let url: String
  private let migrationURL: String?
  private let logger: Logger

  /// Two for each core, from four to sixteen: more only get in each other's way when the database is on the same machine,
  /// and five services together must stay under the hundred that a server allows by itself.
  package static let connectionsOfThisMachine = min(16, max(4, 2 * ProcessInfo.processInfo.activeProcessorCount))

  /// A statement that takes longer is cancelled, so that no request holds a connection for good.
  private static let statementTimeoutMilliseconds = 8000
  private static let triesMax = 8

  /// - Parameters:
  ///   - migrationURL: another role's URL, which owns the tables; the role of `url` then only uses them.
  ///   - connections: how many this process holds at most; they are opened when they are first needed.
  package init(
    url: String, schema: String, migrationURL: String? = nil, connections: Int = connectionsOfThisMachine,
    patience: Duration = .seconds(5), logger: Logger
  ) {
    self.url = url
    self.schema = schema
    self.migrationURL = migrationURL
    self.logger = logger
    self.pool = Pool(size: connections, patience: patience) { number in
      Lane(name: "\(schema)-db-\(number)") {
        try Link(
          url: url, schema: schema, statementTimeoutMilliseconds: Self.statementTimeoutMilliseconds,
          settings: Self.settings)
      }
    }
  }

  /// What a statement by itself is: a read of one snapshot (``SingleRead``). What writes says so.
  private static let settings = """
    set default_transaction_isolation = 'repeatable read'; set default_transaction_read_only = on
    """

  package func read<T: Sendable>(_ body: @escaping @Sendable (any Connection) throws -> T) async throws -> T {
    try await pool.with { lane in
      let reading = Transaction(on: lane, begin: "begin isolation level repeatable read read only")
      let result = try reading.run(body)
      try reading.endReading()
      return result
    }
  }

  package func readOnce<T: Sendable>(_ body: @escaping @Sendable (any Connection) throws -> T) async throws -> T {
    try await pool.with { lane in try body(SingleRead(on: lane)) }
  }

  @discardableResult
  package func write<T: Sendable>(
    _ isolation: Isolation, _ body: @escaping @Sendable (any Connection) throws -> T
  ) async throws -> T {
    let begin = "begin isolation level \(isolation == .serializable ? "serializable" : "read committed") read write"
    for attempt in 1...Self.triesMax {
      do {
        return try await pool.with { lane in
          let writing = Transaction(on: lane, begin: begin)
          let result = try writing.run(body)
          try writing.commit()
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
    let lane = Lane(name: "\(schema)-migrations") { [url, migrationURL, schema] in
      // A long change of a table is no runaway: ten minutes.
      try Link(url: migrationURL ?? url, schema: schema, statementTimeoutMilliseconds: 600_000)
    }
    defer { lane.close() }
    try await lane.run { [schema, migrationURL, url] lane in
      let link: Link
      do { link = try lane.connected() } catch let DatabaseFailure.unavailable(words) {
        throw DatabaseFailure.unusable("PostgreSQL does not answer: \(words)")
      }
      try link.script("select pg_advisory_lock(hashtextextended('kith migrations of \(schema)', 0))")
      try link.script("create schema if not exists \"\(schema)\"; \(Migration.ledger)")
      let applied = try link.run(["select name, checksum from migration where service = \(schema) order by position"])
        .flatMap(\.rows)
        .map { (name: try $0.get("name", as: String.self), checksum: try $0.get("checksum", as: String.self)) }
      let pending = try Migration.pending(migrations, engine: .postgres, applied: applied)
      for (position, migration) in zip(pending.indices, pending) {
        try Self.apply(migration, of: schema, at: position, through: link)
      }
      if migrationURL != nil { try Self.grant(schema, to: try Self.role(of: url), through: link) }
    }
  }

  private static func apply(_ migration: Migration, of service: String, at position: Int, through link: Link) throws {
    do {
      try link.script("begin; \(migration.text(for: .postgres))")
      let note: SQL = """
        insert into migration (service, position, name, checksum, applied_at)
        values (\(service), \(position), \(migration.name), \(migration.checksum(for: .postgres)), \(Date()))
        """
      try link.run([note])
      try link.script("commit")
    } catch {
      throw DatabaseFailure.unusable("migration \(migration.name) failed: \(error)")
    }
  }

  private static func role(of url: String) throws -> String {
    try Link(url: url, schema: "public", statementTimeoutMilliseconds: statementTimeoutMilliseconds)
      .run(["select current_user::text as name"]).first?.rows.first?.get("name") ?? ""
  }

  private static func grant(_ schema: String, to role: String, through link: Link) throws {
    let role = "\"" + role.replacingOccurrences(of: "\"", with: "\"\"") + "\""
    try link.script(
      """
      grant usage on schema "\(schema)" to \(role);
      grant select, insert, update, delete on all tables in schema "\(schema)" to \(role);
      grant usage on all sequences in schema "\(schema)" to \(role)
      """)
  }
}
