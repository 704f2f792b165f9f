import Database
import Foundation
import Support
import Synchronization
import Testing
import Wire

/// kill -9 while webhooks arrive: everything that was paid is granted, once.
@Suite struct BillingCrashTests {
  /// A webhook as its sender repeats it until it is acknowledged.
  private struct Webhook: Sendable {
    let path: String
    let body: Data
    let credits: Int
    let user: UserID
    let isStripes: Bool

    func send(to credits: Browser) async throws -> Int {
      let headers = isStripes ? ["Stripe-Signature": StripeEvent.signature(of: body, at: Date())] : [:]
      return try await credits.with(headers.merging(["Content-Type": "application/json"]) { $1 })
        .send(.POST, path, body: body).status
    }
  }

  /// What has been sent, and which of it was acknowledged.
  private final class Deliveries: Sendable {
    private let state = Mutex((next: 0, acknowledged: Set<Int>()))

    func next() -> Int {
      state.withLock { state in
        defer { state.next += 1 }
        return state.next
      }
    }

    func acknowledge(_ index: Int) { state.withLock { _ = $0.acknowledged.insert(index) } }
    var acknowledged: Set<Int> { state.withLock { $0.acknowledged } }
    var begun: Int { state.withLock { $0.next } }
  }

  private static let webhookCount = 120
  private static let killCount = 5

  /// Packs of both stores, and periods of a subscription, for which Stripe is asked.
  private func webhooks(of users: [UserID], _ stripe: StripeServer, _ store: AppStore) throws -> [Webhook] {
    let now = Int(Date().timeIntervalSince1970)
    return try (0..<Self.webhookCount).map { index in
      let user = users[index % users.count]
      let objects = StripeObjectsOfUser(user: user)
      switch index % 3 {
      case 0:
        let event = try StripeEvent("checkout.session.completed", objects.session(index), at: now)
        return Webhook(path: "/webhooks/stripe", body: event.body, credits: 50, user: user, isStripes: true)
      case 1:
        stripe.keep(objects.subscription(index, periodEnd: now + 2_592_000))
        let event = try StripeEvent("invoice.paid", objects.invoice(index, periodEnd: now + 2_592_000), at: now)
        return Webhook(path: "/webhooks/stripe", body: event.body, credits: 300, user: user, isStripes: true)
      default:
        let pack = AppStore.transaction("\(index)", product: BillingProducts.pack, for: user, from: Date())
        let payload = try store.notification("ONE_TIME_CHARGE", about: pack, at: Date())
        let body = try JSON.encode(["signedPayload": payload])
        return Webhook(path: "/webhooks/apple", body: body, credits: 50, user: user, isStripes: false)
      }
    }
  }

  /// Four senders send what is next until the process is killed.
  private func sendUntilKilled(_ credits: KithProcess, _ webhooks: [Webhook], _ deliveries: Deliveries) async {
    let before = deliveries.acknowledged.count
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          while !Task.isCancelled {
            let index = deliveries.next()
            guard index < webhooks.count else { return }
            // `try?`: the process was killed.
            guard let status = try? await webhooks[index].send(to: credits.gateway) else { return }
            if status == 200 { deliveries.acknowledge(index) }
          }
        }
      }
      while deliveries.acknowledged.count < before + Self.webhookCount / Self.killCount / 2,
        deliveries.begun < webhooks.count
      {
        // `try?`: nothing cancels this task.
        try? await Task.sleep(for: .milliseconds(Int.random(in: 1...10)))
      }
      await credits.kill()
      group.cancelAll()
    }
  }

  private func signIn(_ count: Int, through auth: Browser) async throws -> [UserID] {
    var users: [UserID] = []
    for number in 0..<count {
      let reply = try await auth.with(["X-Admin-Key": TestStack.adminKey])
        .post("/api/v1/auth/dev/token", ["email": "buyer\(number)@example.com"])
      users.append(try await SignedInUser(reply, through: auth).id)
    }
    return users
  }

  private func withProcesses(
    _ engine: Engine, _ body: (TestDatabase, ServiceProcesses, StripeServer, AppStore) async throws -> Void
  ) async throws {
    try await withStripe { stripe in
      try await withAppStore { store in
        try await withTestDatabase(engine) { testDatabase in
          let settings = [stripe.settings, store.settings, BillingProducts.settings].reduce(
            into: ["APPLE_BUNDLE_ID": AppStore.bundleID]
          ) { $0.merge($1) { $1 } }
          let processes = try ServiceProcesses(["auth", "credits"], in: testDatabase, settings)
          try await processes.ready()
          try await body(testDatabase, processes, stripe, store)
        }
      }
    }
  }

  @Test(arguments: engines) func everythingIsGrantedOnceHoweverOftenTheProcessIsKilled(engine: Engine) async throws {
    try await withProcesses(engine) { testDatabase, processes, stripe, store in
      let users = try await signIn(4, through: try #require(processes.all["auth"]).gateway)
      let (webhooks, deliveries) = (try webhooks(of: users, stripe, store), Deliveries())
      var credits = try #require(processes.all["credits"])
      for _ in 0..<Self.killCount {
        await sendUntilKilled(credits, webhooks, deliveries)
        credits = try processes.restart("credits")
        try await credits.healthy("/health/ready")
      }
      let acknowledged = deliveries.acknowledged
      #expect(acknowledged.count > Self.webhookCount / 4, "the premise")
      #expect(try await testDatabase.count("billing_event", in: "credits") >= acknowledged.count)
      // The senders repeat what was not acknowledged, and a good deal of the rest.
      for index in webhooks.indices where !acknowledged.contains(index) || index.isMultiple(of: 2) {
        #expect(try await webhooks[index].send(to: credits.gateway) == 200)
      }
      try await endLeases(in: testDatabase)
      try await eventually("work on all events") {
        try await testDatabase.count("billing_event where status = 'waiting'", in: "credits") == 0
      }
      #expect(try await testDatabase.count("billing_event where status = 'done'", in: "credits") == webhooks.count)
      #expect(try await testDatabase.count("billing_purchase", in: "credits") == webhooks.count)
      let service = credits.gateway.with(["X-Service-Key": TestStack.keys["billing+credits"] ?? ""])
      for user in users {
        let paid = webhooks.filter { $0.user == user }.map(\.credits).reduce(0, +)
        let reply = try await service.get("/internal/credits/check?user_id=\(user)&cost=0")
        #expect(reply.int("balance") == 50 + paid)
      }
      #expect(try await service.get("/internal/credits/audit").string("status") == "ok")
      #expect(await credits.stop() == 0)
      _ = await processes.all["auth"]?.stop()
    }
  }

  /// As after two minutes: the leases of processes that are gone end.
  private func endLeases(in testDatabase: TestDatabase) async throws {
    let database = try await testDatabase.open("credits", [])
    try await database.write { db in
      try db.change("update billing_event set due_at = \(Date()) where due_at is not null and lease is not null")
    }
    await database.close()
  }
}

/// The objects of one purchase in Stripe's events, each with ids of its own.
private struct StripeObjectsOfUser {
  let user: UserID

  private var metadata: JSONValue { ["user_id": .string(user.description)] }

  func session(_ index: Int) -> JSONValue {
    [
      "id": .string("cs_\(index)"), "mode": "payment", "payment_status": "paid",
      "payment_intent": .string("pi_\(index)"), "amount_total": 799, "currency": "usd",
      "metadata": metadata.with(["product_id": .string(BillingProducts.pack)]),
    ]
  }

  func subscription(_ index: Int, periodEnd: Int) -> JSONValue {
    let price: JSONValue = ["id": .string(BillingProducts.creatorPrice)]
    return [
      "id": .string("sub_\(index)"), "status": "active", "metadata": metadata,
      "items": ["data": [["price": price, "current_period_end": .integer(periodEnd)]], "has_more": false],
    ]
  }

  func invoice(_ index: Int, periodEnd: Int) -> JSONValue {
    let details: JSONValue = ["subscription": .string("sub_\(index)"), "metadata": metadata]
    let line: JSONValue = [
      "amount": 1999, "quantity": 1, "period": ["start": 1, "end": .integer(periodEnd)],
      "pricing": ["price_details": ["price": .string(BillingProducts.creatorPrice)]],
    ]
    return [
      "id": .string("in_\(index)"), "billing_reason": "subscription_create", "amount_paid": 1999,
      "currency": "usd", "lines": ["data": [line], "has_more": false],
      "parent": ["type": "subscription_details", "subscription_details": details],
    ]
  }
}
