import Database

extension Database {
  /// The statements that PostgreSQL has planned for each of `executions` or more: it keeps no plan of them. On a database
  /// that has one connection, as each keeps its own.
  package func statementsPlannedEachTime(executions: Int = 10) async throws -> [String] {
    try await read { db in
      try db.rows(
        """
        select statement from pg_prepared_statements where custom_plans >= \(executions) and generic_plans = 0
        order by statement
        """
      ).map { try $0.get("statement", as: String.self) }
    }
  }
}
