import Clients
import Database
import Foundation
import Support
import Testing
import Wire

@testable import Credits

/// A purchase and its refund that are recorded at the same time, by two replicas.
@Suite struct PurchaseRaceTests {
  /// The purchase is known before by an earlier state of the refund, so that neither has to insert its row.
  @Test(arguments: engines) func aRefundBesideItsPurchaseIsNotLost(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let dependencies = stack.dependencies(of: "credits")
      let database = try await stack.testDatabase.open("credits", creditsMigrations, connections: 16)
      let accounts = CreditAccounts(
        store: LedgerStore(database: database, signupCredits: 50), users: UsersClient(in: dependencies),
        logger: dependencies.logger, now: dependencies.now)
      let store = PurchaseStore(database: database, accounts: accounts)
      let now = stack.clock.now
      for number in 0..<50 {
        let id = "pi_\(number)"
        let (half, whole) = (try refund(of: id, 50, at: now), try refund(of: id, 100, at: now + 1))
        try await store.record(half, at: now)
        let purchase = Purchase(
          provider: .stripe, transactionID: id, user: alice.id, productID: "pack", quantity: 1, credits: 10,
          type: .stripePurchase, environment: "test", purchasedAt: now)
        async let granted = store.grant(purchase, at: now)
        async let refunded: Void = store.record(whole, at: now)
        #expect(try await granted)
        try await refunded
      }
      let unsettled = try await stack.count("billing_purchase where credits_taken_back <> 10", in: "credits")
      #expect(unsettled == 0)
      let balance = try await accounts.balance(ofUnchecked: alice.id)
      #expect(balance.current == 50)
      await database.close()
    }
  }

  private func refund(of transaction: String, _ amount: Int, at time: Date) throws -> PurchaseRefund {
    try #require(
      PurchaseRefund(.stripe, transactionID: transaction, id: "refunds", amount: amount, of: 100, stateAt: time))
  }
}
