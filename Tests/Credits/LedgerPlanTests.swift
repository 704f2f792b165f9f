import Database
import Foundation
import Support
import Testing
import Wire

@testable import Credits

/// PostgreSQL keeps the plans of what every spend and every hold executes, with an idempotency key and without.
@Suite struct LedgerPlanTests {
  @Test(.enabled(if: engines.contains(.postgres)), arguments: [true, false])
  func statementsKeepTheirPlans(isKeyed: Bool) async throws {
    try await withLedger(.postgres, connections: 1) { ledger in
      let alice = try await ledger.user(100)
      for number in 1...12 {
        var spend = CreditOperation(
          id: .new(at: ledger.clock.now), user: alice, amount: -1, type: .generation, caller: "tests",
          at: ledger.clock.now)
        spend.idempotencyKey = isKeyed ? "\(number)" : nil
        try await ledger.post(spend)
        try await ledger.settle(try await ledger.hold(1, of: alice, key: spend.idempotencyKey), as: .capture(nil))
      }
      let statements = try await ledger.database.plannedStatements()
      #expect(statements.filter(\.isPlannedEachTime).map(\.text) == [])
      let kept = statements.filter { $0.keepsPlan && $0.text.hasPrefix("update ledger_account set") }
      // Of the grant and the spend, of the hold, and of its capture.
      #expect(kept.count >= 3, "\(statements.map(\.text))")
    }
  }
}
