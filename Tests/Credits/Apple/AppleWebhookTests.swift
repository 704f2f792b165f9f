import Database
import Foundation
import Support
import Testing
import Wire

/// The endpoint for notifications of the App Store, and its inbox.
@Suite struct AppleWebhookTests {
  private func metric(_ line: String, _ stack: TestStack) async throws -> Bool {
    try await stack.credits.with(stack.with(key: "gateway")).get("/metrics").text.contains(line)
  }

  @Test(arguments: engines) func aNotificationIsStoredOnceAndAppliedOnce(engine: Engine) async throws {
    try await withApplePurchases(engine) { stack, store in
      let alice = try await stack.signIn("alice")
      let payload = try store.notification(
        "ONE_TIME_CHARGE",
        about: AppStore.transaction("7", product: TestProduct.pack, for: alice.id, from: stack.clock.now),
        at: stack.clock.now)
      let statuses = try await atOnce(50) { _ in try await stack.notify(payload) }
      #expect(Set(statuses) == [200])
      try await stack.waitForBilling()
      #expect(try await alice.balance() == 150)
      #expect(try await stack.count("billing_event", in: "credits") == 1)
      // For the erasure of the user.
      let users = try await stack.rows("select user_id from billing_event") { try $0.get("user_id", as: UserID.self) }
      #expect(users == [alice.id])
    }
  }

  @Test(arguments: engines) func whatIsNotSignedIsCountedAndNotStored(engine: Engine) async throws {
    try await withApplePurchases(engine) { stack, store in
      let good = try store.notification("TEST", at: stack.clock.now)
      var forged = ["a.b.c", String(good.dropLast(4)) + "AAAA"]
      try await withAppStore { other in forged.append(try other.notification("TEST", at: stack.clock.now)) }
      // A transaction is no notification.
      forged.append(
        try store.sign(AppStore.transaction("1", product: TestProduct.pack, for: nil, from: stack.clock.now)))
      for payload in forged {
        let reply = try await stack.gateway.post("/webhooks/apple", ["signedPayload": payload])
        #expect(reply.status == 400 && reply.string("code") == "invalid_notification")
      }
      #expect(try await stack.gateway.post("/webhooks/apple", ["payload": good]).status == 400)
      let large = String(repeating: "a", count: 256 * 1024)
      #expect(try await stack.notify(large) == 413)
      #expect(try await stack.count("billing_event", in: "credits") == 0)
      #expect(
        try await metric(#"kith_billing_events_received_total{provider="apple",result="rejected"} 4"#, stack))
      #expect(try await stack.notify(good) == 200)
      #expect(try await stack.count("billing_event", in: "credits") == 1)
    }
  }

  @Test(arguments: engines) func whatIsSignedForOthersIsParked(engine: Engine) async throws {
    try await withApplePurchases(engine, ["APPLE_STORE_ENVIRONMENTS": "Production"]) { stack, store in
      let (alice, now) = (try await stack.signIn("alice"), stack.clock.now)
      let pack = AppStore.transaction("1", product: TestProduct.pack, for: alice.id, from: now)
      let sandbox = pack.merging(["environment": "Sandbox"]) { $1 }
      let payloads = [
        try store.notification("ONE_TIME_CHARGE", about: pack, data: ["bundleId": "com.example.stranger"], at: now),
        try store.notification("ONE_TIME_CHARGE", about: sandbox, data: ["environment": "Sandbox"], at: now),
        // The envelope is for production, what is inside of it is not.
        try store.notification("ONE_TIME_CHARGE", about: sandbox, at: now),
        try store.notification("ONE_TIME_CHARGE", about: pack, data: ["appAppleId": 1], at: now),
        try store.notification(
          "ONE_TIME_CHARGE", about: AppStore.transaction("2", product: "unknown", for: alice.id, from: now), at: now),
        try store.notification(
          "ONE_TIME_CHARGE", about: AppStore.transaction("3", product: TestProduct.pack, for: .new(at: now), from: now),
          at: now),
      ]
      for payload in payloads { #expect(try await stack.notify(payload) == 200) }
      try await stack.waitForBilling()
      #expect(
        Set(try await stack.events("parked")) == [
          "the App Store has signed this for another bundle id",
          "the App Store has signed this for an environment that APPLE_STORE_ENVIRONMENTS does not have",
          "the App Store has signed this for an app that APPLE_APP_STORE_ID does not have",
          "BILLING_PRODUCTS has no product unknown", "its appAccountToken is not the id of an account",
        ])
      #expect(try await stack.events("parked").count == payloads.count)
      #expect(try await alice.balance() == 50)
      try await stack.notify(store.notification("ONE_TIME_CHARGE", about: pack, at: now))
      try await stack.waitForBilling()
      #expect(try await alice.balance() == 150)
    }
  }

  @Test(arguments: engines) func typesThatChangeNothingAreIgnored(engine: Engine) async throws {
    try await withApplePurchases(engine) { stack, store in
      let (alice, now) = (try await stack.signIn("alice"), stack.clock.now)
      let pack = AppStore.transaction("1", product: TestProduct.pack, for: alice.id, from: now)
      for type in ["TEST", "A_TYPE_OF_THE_FUTURE", "RENEWAL_EXTENSION", "EXTERNAL_PURCHASE_TOKEN"] {
        #expect(try await stack.notify(store.notification(type, about: type == "TEST" ? nil : pack, at: now)) == 200)
      }
      try await stack.waitForBilling()
      #expect(try await stack.events("ignored").count == 4)
      #expect(try await alice.balance() == 50)
    }
  }
}
