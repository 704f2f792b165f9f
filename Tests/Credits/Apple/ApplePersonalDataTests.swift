import Database
import Foundation
import Support
import Testing
import Wire

/// Export and erasure of what Apple purchases keep about a user.
@Suite struct ApplePersonalDataTests {
  @Test(arguments: engines) func purchasesAreExportedAndErased(engine: Engine) async throws {
    try await withApplePurchases(engine) { stack, store in
      let (alice, now) = (try await stack.signIn("alice"), stack.clock.now)
      let pack = AppStore.transaction("4711", product: TestProduct.pack, for: nil, from: now)
      let explorer = AppStore.transaction(
        "1", product: TestProduct.explorer, for: alice.id, from: now, to: now + 86_400 * 30)
      #expect(try await alice.verify(store.sign(pack)).status == 200)
      #expect(try await stack.notify(store.notification("SUBSCRIBED", about: explorer, at: now)) == 200)
      _ = try await alice.browser.send(.PUT, "/api/v1/billing/apple/consent", json: ["consented": true])
      try await stack.waitForBilling()
      // As auth collects and erases it.
      let (auth, path) = (stack.credits.with(stack.with(key: "auth")), "/internal/users/\(alice.id)/data")
      let export = try await auth.get(path).text
      for text in ["4711", TestProduct.explorer, "SUBSCRIBED", #""apple_consent":true"#] {
        #expect(export.contains(text), "\(text)")
      }
      #expect(try await auth.delete(path).status == 204)
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
