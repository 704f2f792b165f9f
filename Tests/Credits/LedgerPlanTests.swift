import Database
import Foundation
import Support
import Testing
import Wire

@testable import Credits

/// What every spend and every hold executes is planned once, with an idempotency key and without.
@Suite struct LedgerPlanTests {
  @Test(.enabled(if: postgresURL != nil), arguments: [true, false]) func statementsKeepTheirPlans(isKeyed: Bool)
    async throws
  {
    try await withLedger(.postgres, connections: 1) { ledger in
      let alice = try await ledger.user(100)
      for number in 1...10 {
        var spend = CreditOperation(
          id: .new(at: ledger.clock.now), user: alice, amount: -1, type: .generation, caller: "tests",
          at: ledger.clock.now)
        spend.idempotencyKey = isKeyed ? "\(number)" : nil
        try await ledger.post(spend)
        try await ledger.settle(try await ledger.hold(1, of: alice, key: spend.idempotencyKey), as: .capture(nil))
      }
      let plannedEachTime = try await ledger.database.statementsPlannedEachTime()
      #expect(plannedEachTime == [])
    }
  }
}
