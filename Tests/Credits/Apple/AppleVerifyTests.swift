import Database
import Foundation
import Support
import Testing
import Wire

/// Transactions that apps send after a purchase.
@Suite struct AppleVerifyTests {
  @Test(arguments: engines) func aPurchaseIsGrantedOnceHoweverOftenItIsSent(engine: Engine) async throws {
    try await withApplePurchases(engine) { stack, store in
      let alice = try await stack.signIn("alice")
      let signed = try store.sign(
        AppStore.transaction("1001", product: TestProduct.pack, for: alice.id, quantity: 3, from: stack.clock.now))
      let replies = try await atOnce(50) { _ in try await alice.verify(signed) }
      #expect(Set(replies.map(\.text)).count == 1)
      let reply = replies[0]
      #expect(reply.status == 200 && reply.string("transaction_id") == "1001")
      #expect(reply.string("product_id") == TestProduct.pack)
      #expect(reply.int("credits_granted") == 300 && reply.int("balance") == 350)
      // Signed anew, as StoreKit does: the same purchase.
      let later = try store.sign(
        AppStore.transaction(
          "1001", product: TestProduct.pack, for: alice.id, quantity: 3, from: stack.clock.now,
          signedAt: stack.clock.now + 60))
      #expect(try await alice.verify(later).text == reply.text)
      #expect(try await alice.movements() == ["signup_bonus 50", "apple_iap 300"])
    }
  }

  @Test(arguments: engines) func aSubscriptionGrantsItsCreditsAndItsTier(engine: Engine) async throws {
    try await withApplePurchases(engine) { stack, store in
      let alice = try await stack.signIn("alice")
      let now = stack.clock.now.wholeMilliseconds
      let signed = try store.sign(
        AppStore.transaction("1", product: TestProduct.explorer, for: alice.id, from: now, to: now + 86_400 * 30))
      #expect(try await alice.verify(signed).int("credits_granted") == 200)
      #expect(try await alice.movements().last == "subscription_grant 200")
      #expect(
        try await stack.subscription("1")
          == SubscriptionRow(
            product: TestProduct.explorer, status: "active", endsAt: now + 86_400 * 30, willRenew: true))
    }
  }

  @Test(arguments: engines) func thePurchaseOfAnotherUserIsRefused(engine: Engine) async throws {
    try await withApplePurchases(engine) { stack, store in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      // Upper case, as Swift writes a UUID.
      let signed = try store.sign(
        AppStore.transaction(
          "1001", product: TestProduct.pack, for: nil, from: stack.clock.now,
          changing: ["appAccountToken": alice.id.description.uppercased()]))
      let refused = try await bob.verify(signed)
      #expect(refused.status == 403 && refused.string("code") == "purchase_of_another_user")
      #expect(try await bob.balance() == 50)
      #expect(try await alice.verify(signed).status == 200)
      #expect(try await alice.balance() == 150)
    }
  }

  /// A purchase without `appAccountToken` is whose who sends it first.
  @Test(arguments: engines) func withoutAnAccountTheFirstOwnsThePurchase(engine: Engine) async throws {
    try await withApplePurchases(engine) { stack, store in
      let users = [try await stack.signIn("alice"), try await stack.signIn("bob"), try await stack.signIn("carol")]
      let signed = try store.sign(
        AppStore.transaction("1001", product: TestProduct.pack, for: nil, from: stack.clock.now))
      let statuses = try await atOnce(48) { index in (index % 3, try await users[index % 3].verify(signed).status) }
      let owner = try #require(statuses.first { $0.1 == 200 }?.0)
      #expect(statuses.allSatisfy { $0.1 == ($0.0 == owner ? 200 : 403) })
      for index in users.indices { #expect(try await users[index].balance() == (index == owner ? 150 : 50)) }
    }
  }

  /// What the App Store reports before somebody owns the purchase is applied with the claim.
  @Test(arguments: engines) func whatCameBeforeTheOwnerIsApplied(engine: Engine) async throws {
    try await withApplePurchases(engine) { stack, store in
      let (alice, now) = (try await stack.signIn("alice"), stack.clock.now.wholeMilliseconds)
      let (month, renewed) = (86_400.0 * 30, now + 86_400 * 30)
      let first = AppStore.transaction("1", product: TestProduct.explorer, for: nil, from: now, to: renewed)
      let second = AppStore.transaction(
        "2", original: "1", product: TestProduct.explorer, for: nil, from: renewed, to: renewed + month)
      try await stack.notify(store.notification("DID_RENEW", about: second, at: renewed))
      try await stack.notify(store.notification("SUBSCRIBED", "INITIAL_BUY", about: first, at: now))
      try await stack.waitForBilling()
      #expect(try await stack.events("done").count == 2)
      #expect(try await stack.subscription("1") == nil)
      #expect(try await alice.verify(store.sign(first)).int("balance") == 450)
      #expect(try await stack.subscription("1")?.endsAt == renewed + month)
      #expect(try await stack.count("apple_unowned_report", in: "credits") == 0)
      // From now on notifications find the owner.
      try await stack.notify(store.notification("REFUND", about: second, at: renewed + 60))
      try await stack.waitForBilling()
      #expect(try await alice.balance() == 250)
    }
  }

  /// Two accounts with one Apple Account: its subscription is that of the account which has bought the last period.
  @Test(arguments: engines) func aSubscriptionFollowsItsBuyer(engine: Engine) async throws {
    try await withApplePurchases(engine) { stack, store in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let (now, month) = (stack.clock.now.wholeMilliseconds, 86_400.0 * 30)
      let first = AppStore.transaction(
        "1", product: TestProduct.explorer, for: alice.id, from: now - month, to: now)
      let second = AppStore.transaction(
        "2", original: "1", product: TestProduct.creator, for: bob.id, from: now, to: now + month)
      // The later one first.
      try await stack.notify(store.notification("SUBSCRIBED", "RESUBSCRIBE", about: second, at: now))
      try await stack.waitForBilling()
      try await stack.notify(store.notification("EXPIRED", "VOLUNTARY", about: first, at: now - 60))
      try await stack.waitForBilling()
      for (user, tier, balance) in [(alice, "free", 250), (bob, "creator", 1050)] {
        #expect(try await user.browser.get("/api/v1/billing/status").string("subscription_tier") == tier)
        #expect(try await user.balance() == balance)
      }
    }
  }

  @Test(arguments: engines) func whatTheAppStoreHasNotSignedForUsIsRefused(engine: Engine) async throws {
    try await withApplePurchases(engine, ["APPLE_STORE_ENVIRONMENTS": "Production"]) { stack, store in
      let alice = try await stack.signIn("alice")
      let good = AppStore.transaction("1001", product: TestProduct.pack, for: alice.id, from: stack.clock.now)
      let signed = try store.sign(good)
      var texts = ["", "a.b.c", String(signed.dropLast(4)) + "AAAA", try store.sign(good, header: ["alg": "none"])]
      for environment in ["Sandbox", "Xcode", "LocalTesting"] {
        texts.append(try store.sign(good.merging(["environment": environment]) { $1 }))
      }
      texts.append(try store.sign(good.merging(["bundleId": "com.example.stranger"]) { $1 }))
      try await withAppStore { other in texts.append(try other.sign(good)) }
      for text in texts {
        let reply = try await alice.verify(text)
        #expect(reply.status == 400 && reply.string("code") == "invalid_transaction", "\(text)")
      }
      #expect(
        try await stack.gateway.post("/api/v1/billing/apple/verify", ["signed_transaction": signed]).status == 401)
      #expect(try await alice.balance() == 50)
      #expect(try await alice.verify(signed).status == 200)
    }
  }

  /// Such as the app finds it on a new phone, of a subscription from before there was this server.
  @Test(arguments: engines) func aPeriodThatEndedLongAgoGrantsNoTier(engine: Engine) async throws {
    try await withApplePurchases(engine) { stack, store in
      let (alice, now, day) = (try await stack.signIn("alice"), stack.clock.now, 86_400.0)
      let old = AppStore.transaction(
        "1", product: TestProduct.explorer, for: alice.id, from: now - 40 * day, to: now - 10 * day)
      #expect(try await alice.verify(store.sign(old)).int("credits_granted") == 200)
      let status = try await alice.browser.get("/api/v1/billing/status")
      #expect(status.string("subscription_tier") == "free" && status.string("status") == "expired")
      #expect(status.bool("will_renew") == false)
    }
  }

  @Test(arguments: engines) func anUnknownProductIsKeptForTheOperator(engine: Engine) async throws {
    try await withApplePurchases(engine) { stack, store in
      let alice = try await stack.signIn("alice")
      let signed = try store.sign(
        AppStore.transaction("1001", product: "com.example.kith.new", for: alice.id, from: stack.clock.now))
      for _ in 0..<2 {
        let reply = try await alice.verify(signed)
        #expect(reply.status == 422 && reply.string("code") == "unknown_product")
      }
      #expect(try await stack.events("parked") == ["BILLING_PRODUCTS has no product com.example.kith.new"])
      #expect(try await alice.balance() == 50)
    }
  }

  @Test(arguments: engines) func withoutARootCertificateTheVariableIsNamed(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      for reply in [
        try await alice.verify("a.b.c"), try await stack.gateway.post("/webhooks/apple", ["signedPayload": "a"]),
      ] {
        #expect(reply.status == 503 && reply.string("detail").contains("APPLE_ROOT_CERTIFICATES"))
      }
    }
  }
}
