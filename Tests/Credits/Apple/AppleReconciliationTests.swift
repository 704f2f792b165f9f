import Database
import Foundation
import Support
import Testing
import Wire

/// After an outage the App Store is asked for what it could not deliver.
@Suite struct AppleReconciliationTests {
  private static let history = "/inApps/v1/notifications/history"

  private func metric(_ labels: String, _ stack: TestStack) async throws -> Bool {
    try await stack.credits.with(stack.with(key: "gateway")).get("/metrics").text
      .contains("kith_app_store_reconciliations_total{\(labels)")
  }

  private func pack(_ id: String, for user: UserID, at time: Date) -> AppStore.Payload {
    AppStore.transaction(id, product: TestProduct.pack, for: user, from: time)
  }

  /// Some have been delivered, most not; there are several pages.
  @Test(arguments: engines) func missedNotificationsAreFetched(engine: Engine) async throws {
    try await withAppStoreServer { server in
      try await withApplePurchases(engine, server.settings) { stack, store in
        try await eventually("the first reading") { !server.calls(to: Self.history).isEmpty }
        let (alice, now) = (try await stack.signIn("alice"), stack.clock.now)
        for index in 0..<10 {
          let payload = try store.notification(
            "ONE_TIME_CHARGE", about: pack("\(100 + index)", for: alice.id, at: now), at: now)
          server.remember(payload, signedAt: now)
          if index == 3 { #expect(try await stack.notify(payload) == 200) }
        }
        // One that somebody else has signed is left out.
        try await withAppStore { other in
          server.remember(
            try other.notification("ONE_TIME_CHARGE", about: pack("1", for: alice.id, at: now), at: now), signedAt: now)
        }
        stack.clock.advance(by: .seconds(7 * 3600))
        try await eventually("the missed notifications") {
          try await stack.count("billing_event where status = 'done'", in: "credits") == 10
        }
        #expect(try await stack.signIn("alice").balance() == 1050)
        // Two apps in two environments, twice.
        try await eventually("the end of the reading") {
          try await metric(#"subject="notifications",outcome="read"} 8"#, stack)
        }
        // Four pages, with the same times in each request.
        let calls = server.calls(to: Self.history).filter { !$0.query.isEmpty && $0.bundleID == AppStore.bundleID }
        #expect(calls.count == 3 && Set(calls.map(\.body)).count == 1)
        // What was read is not read again.
        let count = server.requestCount
        try await Task.sleep(for: .seconds(2))
        #expect(server.requestCount == count)
      }
    }
  }

  @Test(arguments: engines) func whatTheAppStoreRefusesIsAskedAgain(engine: Engine) async throws {
    try await withAppStoreServer { server in
      server.behavior = .answering(401, "")
      try await withApplePurchases(engine, server.settings) { stack, store in
        func failures() async throws -> Bool { try await metric(#"subject="notifications",outcome="failed""#, stack) }
        try await eventually("a refusal") { try await failures() }
        #expect(server.calls(to: Self.history).isEmpty)
        let alice = try await stack.signIn("alice")
        server.remember(
          try store.notification(
            "ONE_TIME_CHARGE", about: pack("1", for: alice.id, at: stack.clock.now), at: stack.clock.now),
          signedAt: stack.clock.now)
        for behavior in [
          .answering(500, #"{"errorCode":5000001}"#), .answering(200, "no JSON"),
        ] as [AppStoreServer.Behavior] {
          server.behavior = behavior
          let count = server.requestCount
          stack.clock.advance(by: .seconds(400))
          try await eventually("another question") { server.requestCount > count }
        }
        #expect(try await stack.signIn("alice").balance() == 50)
        server.behavior = .normal
        stack.clock.advance(by: .seconds(400))
        try await eventually("the credits") { try await stack.signIn("alice").balance() == 150 }
      }
    }
  }

  /// The App Store writes the time in milliseconds since 1970 into `Retry-After`.
  @Test(arguments: engines) func aLimitIsRespected(engine: Engine) async throws {
    try await withAppStoreServer { server in
      server.behavior = .limiting(until: Date() + 3000)
      try await withApplePurchases(engine, server.settings) { stack, _ in
        try await eventually("the first questions") { server.requestCount >= 4 }
        let count = server.requestCount
        server.behavior = .normal
        // Later than after other failures, earlier than the limit.
        stack.clock.advance(by: .seconds(2000))
        try await Task.sleep(for: .seconds(3))
        #expect(server.requestCount == count)
        stack.clock.advance(by: .seconds(1100))
        try await eventually("the next question") { server.requestCount > count }
      }
    }
  }

  /// What production does not know is looked up in the sandbox, where that is configured.
  @Test(arguments: engines, ["Production,Sandbox", "Production"])
  func whatOneEnvironmentDoesNotKnowIsAskedOfTheOther(engine: Engine, environments: String) async throws {
    try await withAppStoreServer { server in
      let settings = server.settings.merging(["APPLE_STORE_ENVIRONMENTS": environments]) { $1 }
      try await withApplePurchases(engine, settings) { stack, store in
        let (alice, start, month) = (try await stack.signIn("alice"), stack.clock.now.wholeMilliseconds, 2_592_000.0)
        let first = AppStore.transaction(
          "1", product: TestProduct.explorer, for: alice.id, from: start, to: start + month)
        #expect(try await alice.verify(store.sign(first)).status == 200)
        let second = AppStore.transaction(
          "2", original: "1", product: TestProduct.explorer, for: alice.id, from: start + month,
          to: start + 2 * month, changing: ["environment": "Sandbox"])
        let renewal = AppStore.renewal(
          "1", product: TestProduct.explorer, at: start + month, changing: ["environment": "Sandbox"])
        server.remember(
          customerOf: "1", isSandbox: true, transactions: [try store.sign(second)],
          statuses: [
            try .init(
              original: "1", number: 1, signedTransaction: store.sign(second), signedRenewal: store.sign(renewal))
          ])
        stack.clock.move(to: start + month + 7200)
        let isBoth = environments.contains("Sandbox")
        try await eventually("an answer") {
          try await metric(#"subject="subscriptions",outcome="\#(isBoth ? "read" : "failed")""#, stack)
        }
        #expect(!server.calls(to: "/inApps/v2/history/1").isEmpty)
        #expect(server.calls(to: "/sandbox/inApps/v2/history/1").isEmpty == !isBoth)
        #expect(try await stack.subscription("1")?.endsAt == start + (isBoth ? 2 : 1) * month)
        #expect(try await stack.signIn("alice").balance() == (isBoth ? 450 : 250))
      }
    }
  }

  @Test(arguments: engines) func aSubscriptionThatWentQuietIsLookedUp(engine: Engine) async throws {
    try await withAppStoreServer { server in
      try await withApplePurchases(engine, server.settings) { stack, store in
        let (alice, start, day) = (try await stack.signIn("alice"), stack.clock.now.wholeMilliseconds, 86_400.0)
        func transaction(_ number: Int, _ from: Double, _ to: Double) -> AppStore.Payload {
          AppStore.transaction(
            "\(number)", original: "1", product: TestProduct.explorer, for: alice.id, from: start + from * day,
            to: start + to * day)
        }
        #expect(try await alice.verify(store.sign(transaction(1, 0, 30))).status == 200)
        let bought = [transaction(1, 0, 30), transaction(2, 30, 60), transaction(3, 60, 90)]
        let renewal = AppStore.renewal("1", product: TestProduct.explorer, willRenew: false, at: start + 61 * day)
        // What the customer bought elsewhere is not sold here.
        let strange = AppStore.transaction("8", product: "strange", for: alice.id, from: start)
        server.remember(
          customerOf: "1", transactions: try (bought + [strange]).map { try store.sign($0) },
          statuses: [
            try .init(
              original: "1", number: 1, signedTransaction: try store.sign(bought[2]), signedRenewal: store.sign(renewal)
            )
          ])
        stack.clock.move(to: start + 62 * day)
        let expected = SubscriptionRow(
          product: TestProduct.explorer, status: "active", endsAt: start + 90 * day, willRenew: false)
        try await eventually("the state") { try await stack.subscription("1") == expected }
        #expect(try await stack.signIn("alice").balance() == 650)
        #expect(try await metric(#"subject="subscriptions",outcome="read""#, stack))
      }
    }
  }
}
