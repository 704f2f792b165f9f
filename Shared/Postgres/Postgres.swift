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
  let url: String
  let migrationURL: String?
  let appendOnlyTables: [String]
  private let logger: Logger

  /// Two for each core, from four to sixteen: more only compete for the cores when the database is on the same machine,
  /// and five services together must stay under the server's default limit of a hundred connections.
  package static func defaultConnectionCount(_ processors: Int) -> Int { min(16, max(4, 2 * processors)) }

  /// The server cancels a statement that takes longer, so that no request holds a connection indefinitely.
  static let statementTimeoutMilliseconds = 8000
  private static let triesMax = 8

  /// - Parameters:
  ///   - migrationURL: the URL of another role, which owns the tables; the role of `url` is then only granted their
  ///     use.
  ///   - appendOnlyTables: tables whose rows the role of `url` may not update or delete, when another role owns them.
  ///   - connections: the maximum of this process; they are opened on first use.
  ///   - acquireTimeout: how long a call waits for a free connection.
  package init(
    url: String, schema: String, migrationURL: String? = nil, appendOnlyTables: [String] = [],
    connections: Int, acquireTimeout: Duration = .seconds(5), logger: Logger
  ) {
    self.url = url
    self.schema = schema
    self.migrationURL = migrationURL
    self.appendOnlyTables = appendOnlyTables
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
}
