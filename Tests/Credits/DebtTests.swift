import Database
import Foundation
import Support
import Testing
import Wire

@testable import Credits

/// Refunds that take more than there is.
@Suite struct DebtTests {
  @Test(arguments: engines) func aRefundBeyondTheBalanceIsDebtThatTheNextGrantPays(engine: Engine) async throws {
    try await withLedger(engine) { ledger in
      let alice = try await ledger.user(100)
      try await ledger.spend(70, of: alice)
      guard case .posted(_, balanceAfter: 0) = try await ledger.refund(100, of: alice) else {
        Issue.record("the refund was not posted")
        return
      }
      let inDebt = try await ledger.balance(of: alice)
      #expect((inDebt.current, inDebt.debt, inDebt.available) == (0, 70, 0))
      #expect(try await ledger.spend(1, of: alice) == .insufficient(balance: 0))
      await #expect(throws: Failure.insufficientCredits(cost: 1)) { _ = try await ledger.hold(1, of: alice) }

      try await ledger.grant(30, to: alice, expiringAfter: 1000)
      let less = try await ledger.balance(of: alice)
      #expect((less.current, less.debt) == (0, 40))
      try await ledger.grant(50, to: alice)
      let paid = try await ledger.balance(of: alice)
      #expect((paid.current, paid.debt) == (10, 0))
      #expect(try await ledger.lots(of: alice) == [10])
      let history = try await ledger.store.history(of: alice, limit: 10)
      #expect(history.map(\.balanceAfter) == [10, -40, -70, 30, 100])
      #expect(history.map(\.amount) == [50, 30, -100, -70, 100])
      ledger.clock.advance(by: .seconds(1000))
      try await ledger.expire()
      #expect(try await ledger.balance(of: alice).current == 10)
    }
  }

  @Test(arguments: engines) func onlyARefundMayTakeMoreThanThereIs(engine: Engine) async throws {
    try await withLedger(engine) { ledger in
      let alice = try await ledger.user(10)
      #expect(try await ledger.spend(11, of: alice) == .insufficient(balance: 10))
      let refund = CreditOperation(
        id: .new(at: ledger.clock.now), user: alice, amount: -11, type: .refund, at: ledger.clock.now)
      #expect(try await ledger.post(refund) == .insufficient(balance: 10))
      #expect(try await ledger.balance(of: alice).debt == 0)
    }
  }

  /// What is held stays held; what is given back pays the debt.
  @Test(arguments: engines) func aRefundLeavesWhatIsHeld(engine: Engine) async throws {
    try await withLedger(engine) { ledger in
      let alice = try await ledger.user(100)
      let captured = try await ledger.hold(30, of: alice)
      let released = try await ledger.hold(40, of: alice)
      try await ledger.refund(100, of: alice)
      let inDebt = try await ledger.balance(of: alice)
      #expect((inDebt.current, inDebt.held, inDebt.debt, inDebt.available) == (70, 70, 70, 0))

      #expect(try await ledger.settle(captured, as: .capture(20)).balance == 40)
      let after = try await ledger.balance(of: alice)
      #expect((after.current, after.held, after.debt) == (40, 40, 60))
      try await ledger.settle(released, as: .release)
      let all = try await ledger.balance(of: alice)
      #expect((all.current, all.held, all.debt) == (0, 0, 20))
      #expect(try await ledger.amounts(of: alice) == [100, -100, -20])
      try await ledger.grant(20, to: alice)
      let none = try await ledger.balance(of: alice)
      #expect((none.current, none.debt) == (0, 0))
      #expect(try await ledger.lots(of: alice) == [])
    }
  }

  @Test(arguments: engines) func fiftyRefundsAndGrantsAtOnceAddUp(engine: Engine) async throws {
    try await withLedger(engine) { ledger in
      let alice = try await ledger.user(10)
      _ = try await atOnce(50) { index in
        if index % 2 == 0 { try await ledger.refund(7, of: alice) } else { try await ledger.grant(5, to: alice) }
      }
      let balance = try await ledger.balance(of: alice)
      #expect((balance.current, balance.debt) == (0, 25 * 7 - 25 * 5 - 10))
    }
  }

  @Test(arguments: engines) func aBillingSystemPostsRefundsAndCreditsThatExpire(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let billing = stack.credits.with(stack.with(key: "billing+credits"))
      let user = ["user_id": alice.id.description as any Sendable]
      let expiry = RFC3339.milliseconds(stack.clock.now + 500)
      let grant = try await billing.post(
        "/internal/credits/grant", user.merging(["amount": 30, "expires_at": expiry]) { $1 })
      #expect(grant.int("balance_after") == 80)
      stack.clock.advance(by: .seconds(501))
      #expect(try await alice.browser.get("/api/v1/credits/balance").int("balance") == 50)

      let refund = user.merging(["cost": 60, "transaction_type": "refund", "idempotency_key": "r"]) { $1 }
      #expect(try await billing.post("/internal/credits/spend", refund).bool("success") == false)
      let owed = refund.merging(["creates_debt": true]) { $1 }
      for _ in 0..<2 {
        let reply = try await billing.post("/internal/credits/spend", owed)
        #expect((reply.bool("success"), reply.int("balance_after")) == (true, 0))
      }
      let balance = try await alice.browser.get("/api/v1/credits/balance")
      #expect((balance.int("balance"), balance.int("debt"), balance.int("available")) == (0, 10, 0))
      let history = try await alice.browser.get("/api/v1/credits/history").list
      #expect(history.compactMap { $0["balance_after"] as? Int } == [-10, 50, 80, 50])
      let spend = owed.merging(["transaction_type": "chat"]) { $1 }
      #expect(try await billing.post("/internal/credits/spend", spend).status == 422)
    }
  }
}
