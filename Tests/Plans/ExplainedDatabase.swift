import Database
import Foundation

/// A database that explains the statements of its transactions before it runs them.
struct ExplainedDatabase: Database {
  let inner: any Database
  let statements: ExplainedStatements

  var engine: Engine { inner.engine }

  func read<T: Sendable>(_ body: @escaping @Sendable (any Connection) throws -> T) async throws -> T {
    try await inner.read { try body(ExplainedConnection(inner: $0, statements: statements)) }
  }

  @discardableResult
  func write<T: Sendable>(
    _ isolation: Isolation, _ body: @escaping @Sendable (any Connection) throws -> T
  ) async throws -> T {
    try await inner.write(isolation) { try body(ExplainedConnection(inner: $0, statements: statements)) }
  }

  func migrate(_ migrations: [Migration]) async throws { try await inner.migrate(migrations) }
  func truncateWriteAheadLog() async throws { try await inner.truncateWriteAheadLog() }
  func close() async { await inner.close() }
}

private struct ExplainedConnection: Connection {
  let inner: any Connection
  let statements: ExplainedStatements

  func rows(_ sql: SQL) throws -> [Row] {
    try explain(sql)
    return try inner.rows(sql)
  }

  func change(_ sql: SQL) throws -> Int {
    try explain(sql)
    return try inner.change(sql)
  }

  private func explain(_ sql: SQL) throws {
    guard statements.needsPlan(of: sql.text) else { return }
    let plan =
      switch statements.engine {
      case .sqlite: try sqliteCost(of: sql)
      case .postgres: try postgresCost(of: sql)
      }
    statements.add(plan, of: sql.text)
  }

  private func sqliteCost(of sql: SQL) throws -> PlanCost? {
    try SQLitePlan(inner.rows(sql.preceded(by: "explain query plan"))).cost(of: sql.text, statements.catalog)
  }

  /// The statement is executed in order to count rows, and rolled back. Returns nil when it fails: then it fails again
  /// in the transaction, which handles it.
  private func postgresCost(of sql: SQL) throws -> PlanCost? {
    try inner.change("savepoint explained")
    let rows = Result { try inner.rows(sql.preceded(by: "explain (analyze, format json, timing off, buffers off)")) }
    try inner.change("rollback to savepoint explained")
    guard let row = try? rows.get().first else { return nil }
    return try PostgresPlan(json: try row.get("QUERY PLAN")).cost
  }
}
