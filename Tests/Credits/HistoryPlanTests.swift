import Database
import Foundation
import Support
import Testing
import Wire

@testable import Credits

/// A page of the history reads only its own postings, however many there are before it.
@Suite struct HistoryPlanTests {
  @Test(arguments: engines) func aPageInTheMiddleIsFoundByItsPosition(engine: Engine) async throws {
    try await withTestDatabase(engine) { testDatabase in
      let database = try await testDatabase.open("credits", creditsMigrations)
      let (alice, now) = (UserID.new(at: Date()), Date())
      try await database.write { db in
        for _ in 0..<3 { try insertPostings(5000, of: .new(at: now), at: now, on: db) }
        try insertPostings(5000, of: alice, at: now, on: db)
        try db.change("analyze")
      }
      let plans = RecordedPlans()
      let page = try await database.read { db in
        let planned = PlannedConnection(db, engine, plans, mayScan: { _ in true })
        return try LedgerStore.history(of: alice, limit: 5, offset: 2500, on: planned)
      }
      #expect(page.map(\.balanceAfter) == [2500, 2499, 2498, 2497, 2496])
      let last = try await database.read { try LedgerStore.history(of: alice, limit: 5, offset: 4998, on: $0) }
      #expect(last.map(\.balanceAfter) == [2, 1])
      #expect(try await database.read { try LedgerStore.history(of: alice, limit: 5, offset: 5000, on: $0) }.isEmpty)
      let plan = try #require(plans.all.values.first).joined(separator: "\n")
      #expect(!plan.contains(/Seq Scan on ledger_(posting|operation)/), "\(plan)")
      #expect(plan.contains(engine == .sqlite ? "account_id=? AND position<?" : "\"position\" <= "), "\(plan)")
      await database.close()
    }
  }

  private func insertPostings(_ count: Int, of user: UserID, at now: Date, on db: any Connection) throws {
    try db.change(
      """
      insert into ledger_account (id, kind, balance, posting_count, opened_at)
      values (\(user), 'user', \(count), \(count), \(now))
      """)
    for number in 1...count {
      let id = OperationID.new(at: now)
      try db.change("insert into ledger_operation (id, type, created_at) values (\(id), 'admin_grant', \(now))")
      try db.change(
        """
        insert into ledger_posting (operation_id, account_id, amount, balance_after, position)
        values (\(id), \(user), 1, \(number), \(number))
        """)
    }
  }
}
