import Database
import Foundation
import Support
import Testing
import Wire

/// Whole lives of subscriptions, delivered six times in random order, end as when they are delivered once in order.
@Suite struct AppleOrderTests {
  @Test(arguments: engines, [1, 2, 3] as [UInt64])
  func theOrderOfDeliveryDoesNotMatter(engine: Engine, seed: UInt64) async throws {
    try await withApplePurchases(engine) { stack, store in
      let start = stack.clock.now.wholeMilliseconds
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let inOrder = SubscriptionLife(seed: seed, prefix: "1", of: alice.id, from: start)
      let shuffled = SubscriptionLife(seed: seed, prefix: "2", of: bob.id, from: start)
      #expect(inOrder.events.count > 15)

      for event in inOrder.events {
        try await deliver(event, of: alice, to: stack, store, again: false)
        try await stack.waitForBilling()
      }
      var random = SeededRandom(seed: seed &+ 1000)
      let deliveries = (0..<6).flatMap { round in shuffled.events.map { (round, $0) } }.shuffled(using: &random)
      // Eight at a time, so that the worker also applies several at once.
      for batch in stride(from: 0, to: deliveries.count, by: 8) {
        let part = Array(deliveries[batch..<min(batch + 8, deliveries.count)])
        _ = try await atOnce(part.count) { index in
          let (round, event) = part[index]
          try await deliver(event, of: bob, to: stack, store, again: round % 2 == 1)
        }
      }
      try await stack.waitForBilling()

      #expect(try await stack.events("parked") == [])
      #expect(try await outcome(of: alice, "1", on: stack) == outcome(of: bob, "2", on: stack))
      // The lives are not all the same, and something has happened.
      #expect(try await outcome(of: alice, "1", on: stack).purchases.count > 4)
    }
  }

  /// - Parameter again: under a new id, as the App Store does not do: the result must not depend on the ids.
  private func deliver(
    _ event: SubscriptionLife.Event, of user: SignedInUser, to stack: TestStack, _ store: AppStore, again: Bool
  ) async throws {
    guard let type = event.type else {
      #expect(try await user.verify(store.sign(event.transaction)).status == 200)
      return
    }
    let payload = try store.notification(
      type, event.subtype, about: event.transaction, renewal: event.renewal, data: ["status": event.status],
      id: again ? UUID().uuidString : event.id, at: event.at)
    #expect(try await stack.notify(payload) == 200)
  }

  /// What must be the same, without the parts of ids in which the users differ.
  private struct Outcome: Hashable {
    let balance: Int
    let purchases: [String]
    let subscriptions: [SubscriptionRow?]
  }

  private func outcome(of user: SignedInUser, _ prefix: String, on stack: TestStack) async throws -> Outcome {
    let purchases = try await stack.rows(
      """
      select transaction_id, product_id, quantity, credits, credits_taken_back, status, purchased_at
      from billing_purchase where user_id = \(user.id) order by transaction_id
      """
    ) { row in
      let id: String = try row.get("transaction_id")
      let numbers = try ["quantity", "credits", "credits_taken_back"].map { try row.get($0, as: Int.self) }
      let texts = try ["product_id", "status", "purchased_at"].map { try row.get($0, as: String.self) }
      return "\(id.dropFirst()) \(numbers) \(texts)"
    }
    return Outcome(
      balance: try await user.balance(), purchases: purchases,
      subscriptions: try await [stack.subscription(prefix + "0001"), stack.subscription(prefix + "9001")])
  }
}

/// A random but possible life of two subscriptions and some packs of one user.
struct SubscriptionLife {
  struct Event: Sendable {
    /// nil for a transaction that the app sends.
    let type: String?
    let subtype: String?
    let transaction: AppStore.Payload
    let renewal: AppStore.Payload?
    let status: Int
    let id: String
    let at: Date
  }

  private(set) var events: [Event] = []
  private var random: SeededRandom
  private let prefix: String
  private let user: UserID
  private var now: Date
  private var original = ""
  private var count = 0
  private var current: AppStore.Payload = [:]
  private var paid: [AppStore.Payload] = []
  private var willRenew = true

  private static let month = 30 * 86_400.0

  init(seed: UInt64, prefix: String, of user: UserID, from start: Date) {
    (random, self.prefix, self.user, now) = (SeededRandom(seed: seed), prefix, user, start)
    for first in [0, 9000] {
      (count, paid) = (first, [])
      original = id(first + 1)
      live()
    }
  }

  private func id(_ number: Int) -> String {
    prefix + String(repeating: "0", count: 4 - "\(number)".count) + "\(number)"
  }

  private mutating func live() {
    buy("SUBSCRIBED", "INITIAL_BUY")
    for _ in 0..<Int.random(in: 7...11, using: &random) {
      now += Double.random(in: 0.3...1, using: &random) * Self.month
      switch Int.random(in: 0..<11, using: &random) {
      case 0: failAndRecover()
      case 1: expireAndReturn()
      case 2: buy("DID_CHANGE_RENEWAL_PREF", "UPGRADE", product: TestProduct.creator)
      case 3: refund(isReversed: false)
      case 4: refund(isReversed: true)
      case 5: changeRenewal()
      case 6: buyPack()
      default: buy("DID_RENEW", nil)
      }
    }
  }

  private mutating func add(_ type: String?, _ subtype: String? = nil, status: Int = 1, grace: Date? = nil) {
    now += 1
    var transaction = current
    // The App Store signs the transaction anew for each notification.
    if type != nil { transaction["signedDate"] = AppStore.milliseconds(now) }
    let renewal = AppStore.renewal(
      original, product: TestProduct.explorer, willRenew: willRenew, at: now,
      changing: ["gracePeriodExpiresDate": grace.map(AppStore.milliseconds)])
    let isPack = transaction["expiresDate"] == nil
    events.append(
      Event(
        type: type, subtype: subtype, transaction: transaction, renewal: isPack ? nil : renewal, status: status,
        id: "\(prefix)-\(events.count)", at: now))
  }

  private mutating func buy(_ type: String, _ subtype: String?, product: String = TestProduct.explorer) {
    count += 1
    (willRenew, now) = (true, now + 1)
    current = AppStore.transaction(
      id(count), original: original, product: product, for: user, from: now, to: now + Self.month)
    paid.append(current)
    add(type, subtype)
    if Bool.random(using: &random) {
      current = paid[paid.count - 1]
      add(nil)
    }
  }

  private mutating func buyPack() {
    count += 1
    let subscription = current
    current = AppStore.transaction(
      id(count), product: TestProduct.pack, for: user, quantity: Int.random(in: 1...3, using: &random), from: now + 1)
    paid.append(current)
    add("ONE_TIME_CHARGE")
    current = subscription
  }

  private mutating func failAndRecover() {
    if Bool.random(using: &random) {
      add("DID_FAIL_TO_RENEW", "GRACE_PERIOD", status: 4, grace: now + 10 * 86_400)
      now += 10 * 86_400
      if Bool.random(using: &random) { add("GRACE_PERIOD_EXPIRED", status: 3) }
    } else {
      add("DID_FAIL_TO_RENEW", status: 3)
    }
    now += 86_400
    if Bool.random(using: &random) { buy("DID_RENEW", "BILLING_RECOVERY") } else { expire("BILLING_RETRY") }
  }

  private mutating func expire(_ reason: String) {
    willRenew = false
    add("EXPIRED", reason, status: 2)
  }

  private mutating func expireAndReturn() {
    expire("VOLUNTARY")
    now += 86_400
    buy("SUBSCRIBED", "RESUBSCRIBE")
  }

  private mutating func changeRenewal() {
    willRenew.toggle()
    add("DID_CHANGE_RENEWAL_STATUS", willRenew ? "AUTO_RENEW_ENABLED" : "AUTO_RENEW_DISABLED")
  }

  /// Of any purchase so far, in whole or in part.
  private mutating func refund(isReversed: Bool) {
    let subscription = current
    let index = Int.random(in: paid.indices, using: &random)
    var refunded = paid[index]
    refunded["revocationDate"] = AppStore.milliseconds(now)
    if Bool.random(using: &random) {
      refunded["revocationType"] = "REFUND_PRORATED"
      refunded["revocationPercentage"] = Int.random(in: 1...99_999, using: &random)
    }
    let isCurrent = refunded["transactionId"] as? String == subscription["transactionId"] as? String
    current = refunded
    add("REFUND", status: isCurrent ? 5 : 1)
    if isReversed {
      current = paid[index]
      now += 86_400
      add("REFUND_REVERSED")
    } else {
      paid[index] = refunded
    }
    current = isCurrent ? paid[index] : subscription
  }
}
