import Database
import Synchronization

/// The query plan of each statement, by its text.
package final class RecordedPlans: Sendable {
  private let plans = Mutex<[String: [String]]>([:])

  package init() {}

  package var all: [String: [String]] { plans.withLock { $0 } }

  fileprivate func add(_ plan: [String], for statement: String) { plans.withLock { $0[statement] = plan } }
}

/// A connection that records the query plan of each statement before executing it.
package struct PlannedConnection: Connection {
  private let connection: any Connection
  private let engine: Engine
  private let plans: RecordedPlans
  private let mayScan: @Sendable (String) -> Bool

  /// - Parameter mayScan: whether the planner may scan tables for a statement, as it would by itself. Otherwise
  ///   PostgreSQL is told to avoid scans, to find out whether there is an index: for a user who owns most rows of a
  ///   table a scan is faster.
  package init(
    _ connection: any Connection, _ engine: Engine, _ plans: RecordedPlans,
    mayScan: @escaping @Sendable (String) -> Bool = { _ in false }
  ) {
    self.connection = connection
    self.engine = engine
    self.plans = plans
    self.mayScan = mayScan
  }

  package func rows(_ sql: SQL) throws -> [Row] {
    try plan(sql)
    return try connection.rows(sql)
  }

  package func change(_ sql: SQL) throws -> Int {
    try plan(sql)
    return try connection.change(sql)
  }

  private func plan(_ sql: SQL) throws {
    guard sql.text.hasPrefix("select") || sql.text.hasPrefix("update") || sql.text.hasPrefix("delete") else { return }
    let explained = sql.preceded(by: engine == .sqlite ? "explain query plan" : "explain")
    let column = engine == .sqlite ? "detail" : "QUERY PLAN"
    let disablesScans = engine == .postgres && !mayScan(sql.text)
    if disablesScans { try connection.change("set local enable_seqscan = off") }
    plans.add(try connection.rows(explained).map { try $0.get(column) }, for: sql.text)
    if disablesScans { try connection.change("set local enable_seqscan = on") }
  }
}
