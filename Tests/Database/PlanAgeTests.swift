import Database
import Foundation
import Support
import Testing

@testable import Postgres

/// Plans of prepared statements follow the size of the tables.
@Suite struct PlanAgeTests {
  private static let schema = [
    Migration(
      "tables",
      sqlite: "create table a (x bigint, y text); create unique index a_x on a (x);",
      postgres: """
        create table a (x bigint, y text) with (autovacuum_enabled = false); create unique index a_x on a (x);
        """)
  ]

  private static func lookUp(_ x: Int) -> SQL { "select y from a where x = \(x)" }

  /// What PostgreSQL does when it executes the prepared statement of ``lookUp(_:)`` now.
  private static func plan(on db: any Connection) throws -> String {
    let row = try db.row("select name from pg_prepared_statements where statement = \(lookUp(1).text)")
    let name = try #require(row).get("name", as: String.self)
    return try db.rows(SQL(stringLiteral: "explain execute \(name)(1)"))
      .map { try $0.get("QUERY PLAN", as: String.self) }.joined(separator: "\n")
  }

  @Test(.enabled(if: postgresURL != nil)) func aTableThatFillsAfterTheFirstPlanIsReadByItsIndex() async throws {
    // The server forgets plans when other tests make and drop many tables at once.
    var hasPlanOfEmptyTable = false
    for _ in 0..<5 where !hasPlanOfEmptyTable { hasPlanOfEmptyTable = try await isTableThatFillsReadByItsIndex() }
    #expect(hasPlanOfEmptyTable, "in five attempts")
  }

  /// False when the first plan is not that of an empty table any more.
  private func isTableThatFillsReadByItsIndex() async throws -> Bool {
    let hasPlanOfEmptyTable = Flag()
    try await withTestDatabase(.postgres) { testDatabase in
      let database = try await testDatabase.open("test", Self.schema, connections: 1)
      // Vacuumed while empty: otherwise the planner assumes ten pages.
      try await executeSQL(testDatabase.databaseURL, "vacuum test.a")
      // In one transaction, within which plans are not discarded.
      let first = try await database.write { db in
        for x in 1...10 { _ = try db.rows(Self.lookUp(x)) }
        try db.change("insert into a (x, y) select n, 'a text' from generate_series(1, 20000) n")
        return try Self.plan(on: db)
      }
      if first.contains("Seq Scan on a") && first.contains("$1") { hasPlanOfEmptyTable.raise() }
      for x in 1...PlanAge.firstExecutionsMax + 20 { _ = try await database.readOnce { try $0.rows(Self.lookUp(x)) } }
      let later = try await database.read { try Self.plan(on: $0) }
      #expect(later.contains("Index Scan using a_x on a") && !later.contains("Seq Scan"))
      #expect(later.contains("$1"), "the plan is cached")
      await database.close()
    }
    return hasPlanOfEmptyTable.isRaised
  }

  @Test func plansAreOldAfterManyExecutionsOrSomeSeconds() {
    let start = ContinuousClock.now
    var age = PlanAge(plannedAt: start)
    age.countExecutions(PlanAge.firstExecutionsMax - 1)
    #expect(!age.isOver(at: start + PlanAge.durationMax - .milliseconds(1)))
    #expect(age.isOver(at: start + PlanAge.durationMax))
    age.countExecutions(1)
    #expect(age.isOver(at: start))
    // The next plans last twice as long.
    age = age.renewed(at: start)
    age.countExecutions(2 * PlanAge.firstExecutionsMax - 1)
    #expect(!age.isOver(at: start) && age.isOver(at: start + PlanAge.durationMax))
    age.countExecutions(1)
    #expect(age.isOver(at: start))
  }

  @Test func plansOfFewExecutionsLastForAMinute() {
    let start = ContinuousClock.now
    var age = PlanAge(plannedAt: start)
    age.countExecutions(PlanAge.fewExecutionsMax)
    #expect(!age.isOver(at: start + PlanAge.fewExecutionsDurationMax - .milliseconds(1)))
    #expect(age.isOver(at: start + PlanAge.fewExecutionsDurationMax))
    age.countExecutions(1)
    #expect(!age.isOver(at: start + PlanAge.durationMax - .milliseconds(1)))
    #expect(age.isOver(at: start + PlanAge.durationMax))
  }
}
