import Database
import Foundation
import Support
import Testing
import Wire

/// Export and erasure of what Apple purchases keep about a user.
@Suite struct ApplePersonalDataTests {
  @Test(arguments: engines) func purchasesAreExportedAndErased(engine: Engine) async throws {
    try await withApplePurchases(engine, ["ACCOUNT_ERASE_AFTER_DAYS": "0"]) { stack, store in
      let (alice, now) = (try await stack.signIn("alice"), stack.clock.now)
      let pack = AppStore.transaction("4711", product: TestProduct.pack, for: nil, from: now)
      let explorer = AppStore.transaction(
        "1", product: TestProduct.explorer, for: alice.id, from: now, to: now + 86_400 * 30)
      #expect(try await alice.verify(store.sign(pack)).status == 200)
      #expect(try await stack.notify(store.notification("SUBSCRIBED", about: explorer, at: now)) == 200)
      _ = try await alice.browser.send(.PUT, "/api/v1/billing/apple/consent", json: ["consented": true])
      try await stack.waitForBilling()
      let export = try await alice.browser.get("/api/v1/users/me/export").text
      for text in ["4711", TestProduct.explorer, "SUBSCRIBED", #""apple_consent":true"#] {
        #expect(export.contains(text), "\(text)")
      }

      #expect(try await alice.browser.delete("/api/v1/auth/account").status == 200)
      try await eventually("the erasure") {
        try await stack.count("erasure where finished_at is not null", in: "auth") == 1
      }
      for table: SQL in [
        "billing_purchase where user_id is not null", "billing_subscription where user_id is not null",
        "apple_original where user_id is not null", "apple_consent", "billing_event",
      ] {
        #expect(try await stack.count(table, in: "credits") == 0, "\(table.text)")
      }
      // The transaction grants nothing to the next account.
      let bob = try await stack.signIn("bob")
      #expect(try await bob.verify(store.sign(pack)).status == 403)
      #expect(try await bob.balance() == 50)
    }
  }
}
