import Database
import Foundation
import Support
import Testing
import Wire

@testable import KithClient

/// Every call of `billing`, against the real server with an App Store and Stripe.
@Suite struct PurchaseAreaTests {
  @Test(arguments: engines) func whatIsBoughtIsGrantedOnce(engine: Engine) async throws {
    try await withAppStore { store in
      try await withStripe { stripe in
        let settings = [
          stripe.settings, store.settings, BillingProducts.settings, ["CHECKOUT_REDIRECTS": "kith://"],
        ].reduce(into: [:]) { $0.merge($1) { $1 } }
        try await withStack(engine, settings) { stack in
          let transport = LosingTransport(losesFirstOf: "/billing/apple/verify")
          let alice = try await stack.clientWithShortTokens("alice", transport: transport)
          let pack = try #require(try await alice.billing.products().packs.first { $0.id == BillingProducts.pack })
          #expect(pack.credits == 50)

          let user = try #require(UserID(try await alice.auth.account().id))
          let signed = try store.sign(
            AppStore.transaction("1001", product: pack.id, for: user, from: stack.clock.now))
          let granted = try await alice.billing.verify(signedTransaction: signed)
          #expect(granted.creditsGranted == 50 && granted.balance == 100 && granted.productID == pack.id)
          #expect(transport.lost == 1)
          #expect(try await alice.billing.verify(signedTransaction: signed) == granted)
          #expect(try await alice.billing.purchases().map(\.productID) == [pack.id])
          #expect(try await alice.billing.status().status == "none")
          try await alice.billing.setConsent(true)
          let bob = try await stack.clientWithShortTokens("bob")
          let other = await #expect(throws: KithFailure.self) {
            try await bob.billing.verify(signedTransaction: signed)
          }
          #expect(other?.code == .known(.purchaseOfAnotherUser))

          let page = try await alice.billing.checkout(pack.id, successURL: URL(string: "kith://paid"))
          #expect(page.host == "checkout.stripe.test")
          #expect(try await alice.billing.portal().scheme == "https")
          let stranger = await #expect(throws: KithFailure.self) { try await bob.billing.portal() }
          #expect(stranger?.code == .known(.noStripeCustomer))
        }
      }
    }
  }
}
