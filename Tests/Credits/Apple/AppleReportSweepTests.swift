import Clients
import Database
import Foundation
import Support
import Testing
import Web
import Wire

@testable import Credits

/// What is reported about purchases that nobody claims does not stay for ever.
@Suite struct AppleReportSweepTests {
  /// Deletes as the service does at another time. Returns how many reports there were to delete.
  private func sweep(_ stack: TestStack, after days: Double) async throws -> Int {
    let database = try await stack.testDatabase.open("credits", [])
    let (dependencies, now) = (stack.dependencies(of: "credits"), stack.clock.now + days * 86_400)
    let accounts = CreditAccounts(
      store: LedgerStore(database: database, signupCredits: 50), users: UsersClient(in: dependencies), logger: quiet,
      now: { now })
    let purchases = ApplePurchases(
      products: try dependencies.settings.products(), store: PurchaseStore(database: database, accounts: accounts),
      now: { now })
    let later = Dependencies(dependencies.settings, logger: quiet, now: { now })
    let count = try await AppleReportSweep(purchases, in: later).deleteBatch(limit: 100)
    await database.close()
    return count
  }

  @Test(arguments: engines) func reportsAreKeptForHalfAYearAndRefundsForEver(engine: Engine) async throws {
    try await withApplePurchases(engine) { stack, store in
      let (alice, now) = (try await stack.signIn("alice"), stack.clock.now)
      let (kept, refunded) = ("1", "2")
      func pack(_ id: String) -> AppStore.Payload {
        AppStore.transaction(id, product: TestProduct.pack, for: nil, from: now)
      }
      for id in [kept, refunded] {
        #expect(try await stack.notify(store.notification("ONE_TIME_CHARGE", about: pack(id), at: now)) == 200)
      }
      #expect(try await stack.notify(store.notification("REFUND", about: pack(refunded), at: now + 60)) == 200)
      try await stack.waitForBilling()
      #expect(try await stack.count("apple_unowned_report", in: "credits") == 3)
      #expect(try await sweep(stack, after: 179) == 0)
      #expect(try await sweep(stack, after: 181) == 3)
      #expect(try await sweep(stack, after: 181) == 0)
      #expect(try await stack.count("apple_unowned_report", in: "credits") == 0)
      #expect(try await stack.count("apple_original", in: "credits") == 0)
      // The transactions as they were signed before the refund.
      #expect(try await alice.verify(store.sign(pack(kept))).status == 200)
      #expect(try await alice.verify(store.sign(pack(refunded))).status == 200)
      #expect(try await alice.balance() == 150)
      let purchases = try await alice.browser.get("/api/v1/billing/purchases").list
      #expect(purchases.map { $0["status"] as? String ?? "" }.sorted() == ["paid", "refunded"])
      #expect(try await stack.count("apple_original where user_id is not null", in: "credits") == 2)
    }
  }

  /// A claim that comes first takes the reports.
  @Test(arguments: engines) func whatIsClaimedIsNotSwept(engine: Engine) async throws {
    try await withApplePurchases(engine) { stack, store in
      let (alice, now) = (try await stack.signIn("alice"), stack.clock.now)
      let pack = AppStore.transaction("1", product: TestProduct.pack, for: nil, from: now)
      #expect(try await stack.notify(store.notification("REFUND", about: pack, at: now + 60)) == 200)
      try await stack.waitForBilling()
      #expect(try await alice.verify(store.sign(pack)).status == 200)
      #expect(try await sweep(stack, after: 181) == 0)
      #expect(try await stack.count("apple_original where user_id is not null", in: "credits") == 1)
      #expect(try await alice.balance() == 50)
    }
  }
}
