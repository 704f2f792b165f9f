import Database

/// How a statement has been planned on one connection of PostgreSQL.
package struct PlannedStatement: Sendable {
  package let text: String
  private let customPlanCount: Int
  private let generalPlanCount: Int

  /// Planned at each of ten executions or more: no plan of it is kept.
  package var isPlannedEachTime: Bool { customPlanCount >= 10 && generalPlanCount == 0 }

  /// Executed by a plan that is kept.
  package var keepsPlan: Bool { generalPlanCount > 0 }

  fileprivate init(_ row: Row) throws {
    text = try row.get("statement")
    customPlanCount = try row.get("custom_plans")
    generalPlanCount = try row.get("generic_plans")
  }
}

extension Database {
  /// The statements that a connection has prepared, on a database that has no other.
  package func plannedStatements() async throws -> [PlannedStatement] {
    try await read { db in
      try db.rows("select statement, custom_plans, generic_plans from pg_prepared_statements order by statement")
        .map(PlannedStatement.init)
    }
  }
}
