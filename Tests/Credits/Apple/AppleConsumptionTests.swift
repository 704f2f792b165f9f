import Database
import Foundation
import Support
import Testing
import Wire

/// Questions of the App Store about purchases whose refund is asked for.
@Suite struct AppleConsumptionTests {
  private static let path = "/inApps/v2/transactions/consumption/"

  private func ask(_ stack: TestStack, _ store: AppStore, about pack: AppStore.Payload, at time: Date) async throws {
    let payload = try store.notification(
      "CONSUMPTION_REQUEST", about: pack, data: ["consumptionRequestReason": "OTHER"], at: time)
    #expect(try await stack.notify(payload) == 200)
    try await stack.waitForBilling()
  }

  private func spend(_ cost: Int, of user: UserID, on stack: TestStack) async throws {
    let reply = try await stack.credits.with(stack.with(key: "billing+credits"))
      .post("/internal/credits/spend", ["user_id": user.description, "cost": cost])
    #expect(reply.bool("success") == true)
  }

  @Test(arguments: engines) func whoHasAgreedIsAnsweredForOnce(engine: Engine) async throws {
    try await withAppStoreServer { server in
      try await withApplePurchases(engine, server.settings) { stack, store in
        let (alice, now) = (try await stack.signIn("alice"), stack.clock.now)
        let consent = try await alice.browser.send(.PUT, "/api/v1/billing/apple/consent", json: ["consented": true])
        #expect(consent.status == 200 && consent.bool("consented") == true)
        let pack = AppStore.transaction("1", product: TestProduct.pack, for: alice.id, from: now)
        #expect(try await alice.verify(store.sign(pack)).status == 200)
        // 50 of the 100 are left.
        try await spend(100, of: alice.id, on: stack)
        for second in 0..<3 { try await ask(stack, store, about: pack, at: now + Double(second)) }
        let calls = server.calls(to: Self.path)
        #expect(calls.map(\.path) == [Self.path + "1"] && calls[0].method == "PUT")
        let body = try #require(try JSONSerialization.jsonObject(with: calls[0].body) as? [String: Any])
        #expect(body["customerConsented"] as? Bool == true && body["deliveryStatus"] as? String == "DELIVERED")
        #expect(body["sampleContentProvided"] as? Bool == true && body["consumptionPercentage"] as? Int == 50_000)
      }
    }
  }

  @Test(arguments: engines) func whoHasNotAgreedIsNotAnsweredFor(engine: Engine) async throws {
    try await withAppStoreServer { server in
      try await withApplePurchases(engine, server.settings) { stack, store in
        let (alice, now) = (try await stack.signIn("alice"), stack.clock.now)
        let pack = AppStore.transaction("1", product: TestProduct.pack, for: alice.id, from: now)
        try await ask(stack, store, about: pack, at: now)
        for consented in [true, false] {
          _ = try await alice.browser.send(.PUT, "/api/v1/billing/apple/consent", json: ["consented": consented])
        }
        try await ask(stack, store, about: pack, at: now + 1)
        // Too late: the App Store waits for twelve hours.
        _ = try await alice.browser.send(.PUT, "/api/v1/billing/apple/consent", json: ["consented": true])
        let early = AppStore.transaction("2", product: TestProduct.pack, for: alice.id, from: now - 13 * 3600)
        try await ask(stack, store, about: early, at: now - 13 * 3600)
        #expect(server.calls(to: Self.path).isEmpty)
        #expect(try await alice.balance() == 250)
        let anonymous = try await stack.gateway.send(
          .PUT, "/api/v1/billing/apple/consent", json: ["consented": true])
        #expect(anonymous.status == 401)
        #expect(try await alice.browser.send(.PUT, "/api/v1/billing/apple/consent", json: [:]).status == 422)
      }
    }
  }

  @Test(arguments: engines) func anAnswerThatTheAppStoreRefusesIsParked(engine: Engine) async throws {
    try await withAppStoreServer { server in
      try await withApplePurchases(engine, server.settings) { stack, store in
        let (alice, now) = (try await stack.signIn("alice"), stack.clock.now)
        _ = try await alice.browser.send(.PUT, "/api/v1/billing/apple/consent", json: ["consented": true])
        server.behavior = .answering(400, #"{"errorCode":4000047,"errorMessage":"Not supported."}"#)
        let pack = AppStore.transaction("1", product: TestProduct.pack, for: alice.id, from: now)
        try await ask(stack, store, about: pack, at: now)
        #expect(try await stack.events("parked") == ["App Store: 400 4000047"])
        // The purchase itself is applied.
        #expect(try await alice.balance() == 150)
      }
    }
  }
}
