import Database
import Foundation
import Support
import Testing
import Wire

/// The life of a subscription by the App Store's notifications, one type after the other.
@Suite struct AppleSubscriptionTests {
  /// A subscriber's periods of a month, from the time when the test begins.
  private struct Story {
    let stack: TestStack
    let store: AppStore
    let alice: SignedInUser
    let start: Date
    static let month = 30 * 86_400.0

    func transaction(
      _ number: Int, product: String = TestProduct.explorer, from: Double = 0, months: Double = 1,
      changing changes: [String: (any Sendable)?] = [:]
    ) -> AppStore.Payload {
      let begin = start + from * Self.month
      return AppStore.transaction(
        "10\(number)", original: "101", product: product, for: alice.id, from: begin, to: begin + months * Self.month,
        changing: changes)
    }

    func send(
      _ type: String, _ subtype: String? = nil, _ transaction: AppStore.Payload, renewal: AppStore.Payload? = nil,
      status: Int? = nil, atMonth month: Double
    ) async throws {
      let data: AppStore.Payload = status.map { ["status": $0] } ?? [:]
      let payload = try store.notification(
        type, subtype, about: transaction, renewal: renewal, data: data, at: at(month))
      #expect(try await stack.notify(payload) == 200)
      try await stack.waitForBilling()
    }

    func at(_ month: Double) -> Date { start + month * Self.month }

    func renewal(willRenew: Bool = true, atMonth month: Double, graceEnds: Double? = nil) -> AppStore.Payload {
      AppStore.renewal(
        "101", product: TestProduct.explorer, willRenew: willRenew, at: at(month),
        changing: ["gracePeriodExpiresDate": graceEnds.map { AppStore.milliseconds(at($0)) }])
    }

    func row() async throws -> SubscriptionRow? { try await stack.subscription("101") }

    /// Signs in anew, as tokens expire when the clock is moved.
    func tier() async throws -> String {
      try await stack.signIn("alice").browser.get("/api/v1/billing/status").string("subscription_tier")
    }

    func balance() async throws -> Int { try await stack.signIn("alice").balance() }
  }

  private func withStory(_ engine: Engine, _ body: (Story) async throws -> Void) async throws {
    try await withApplePurchases(engine) { stack, store in
      let start = stack.clock.now.wholeMilliseconds
      let story = Story(stack: stack, store: store, alice: try await stack.signIn("alice"), start: start)
      try await story.send("SUBSCRIBED", "INITIAL_BUY", story.transaction(1), atMonth: 0)
      let expected = SubscriptionRow(
        product: TestProduct.explorer, status: "active", endsAt: story.at(1), willRenew: true)
      #expect(try await story.row() == expected)
      #expect(try await story.alice.balance() == 250)
      try await body(story)
    }
  }

  @Test(arguments: engines) func eachRenewalGrantsItsCredits(engine: Engine) async throws {
    try await withStory(engine) { story in
      try await story.send("DID_RENEW", nil, story.transaction(2, from: 1), atMonth: 1)
      try await story.send("OFFER_REDEEMED", nil, story.transaction(3, from: 2), atMonth: 2)
      // Another notification about the same transaction.
      try await story.send("PRICE_INCREASE", "PENDING", story.transaction(3, from: 2), atMonth: 2.1)
      #expect(try await story.alice.balance() == 650)
      #expect(try await story.row()?.endsAt == story.at(3))
      #expect(
        try await story.alice.movements()
          == ["signup_bonus 50", "subscription_grant 200", "subscription_grant 200", "subscription_grant 200"])
    }
  }

  @Test(arguments: engines) func whoDoesNotRenewKeepsTheTierUntilTheEnd(engine: Engine) async throws {
    try await withStory(engine) { story in
      try await story.send(
        "DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", story.transaction(1),
        renewal: story.renewal(willRenew: false, atMonth: 0.5), atMonth: 0.5)
      let canceled = try await story.row()
      #expect(canceled?.status == "active" && canceled?.willRenew == false)
      try await story.send("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED", story.transaction(1), atMonth: 0.6)
      #expect(try await story.row()?.willRenew == true)
      try await story.send("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", story.transaction(1), atMonth: 0.7)
      #expect(try await story.tier() == "explorer")
      try await story.send("EXPIRED", "VOLUNTARY", story.transaction(1), status: 2, atMonth: 1)
      let expired = try await story.row()
      #expect(expired?.status == "expired" && expired?.willRenew == false)
      #expect(try await story.tier() == "free")
      try await story.send("SUBSCRIBED", "RESUBSCRIBE", story.transaction(2, from: 2), atMonth: 2)
      #expect(try await story.row()?.status == "active")
      #expect(try await story.alice.balance() == 450)
    }
  }

  @Test(arguments: engines) func aFailedPaymentStopsTheTierAtTheEndOfTheGracePeriod(engine: Engine) async throws {
    try await withStory(engine) { story in
      story.stack.clock.move(to: story.at(1) + 60)
      try await story.send(
        "DID_FAIL_TO_RENEW", "GRACE_PERIOD", story.transaction(1),
        renewal: story.renewal(atMonth: 1, graceEnds: 1.2), status: 4, atMonth: 1)
      let grace = try await story.row()
      #expect(grace?.status == "past_due" && grace?.endsAt == story.at(1.2))
      #expect(try await story.tier() == "explorer")
      story.stack.clock.move(to: story.at(1.2) + 60)
      #expect(try await story.tier() == "free")
      try await story.send("GRACE_PERIOD_EXPIRED", nil, story.transaction(1), status: 3, atMonth: 1.2)
      #expect(try await story.row()?.status == "past_due")
      #expect(try await story.tier() == "free")
      try await story.send("DID_RENEW", "BILLING_RECOVERY", story.transaction(2, from: 1.3), status: 1, atMonth: 1.3)
      let recovered = try await story.row()
      #expect(recovered?.status == "active" && recovered?.endsAt == story.at(2.3))
      #expect(try await story.balance() == 450)
    }
  }

  @Test(arguments: engines) func withoutGraceTheTierStopsAtOnce(engine: Engine) async throws {
    try await withStory(engine) { story in
      story.stack.clock.move(to: story.at(1) + 60)
      try await story.send("DID_FAIL_TO_RENEW", nil, story.transaction(1), status: 3, atMonth: 1)
      #expect(try await story.row()?.status == "past_due")
      #expect(try await story.tier() == "free")
      try await story.send("EXPIRED", "BILLING_RETRY", story.transaction(1), status: 2, atMonth: 3)
      #expect(try await story.row()?.status == "expired")
    }
  }

  @Test(arguments: engines) func anUpgradeGrantsTheNewProductInFull(engine: Engine) async throws {
    try await withStory(engine) { story in
      let upgraded = story.transaction(2, product: TestProduct.creator, from: 0.5)
      try await story.send("DID_CHANGE_RENEWAL_PREF", "UPGRADE", upgraded, status: 1, atMonth: 0.5)
      #expect(try await story.alice.balance() == 1250)
      #expect(try await story.row()?.product == TestProduct.creator)
      #expect(try await story.tier() == "creator")
      // A downgrade is of the next period: nothing changes now.
      try await story.send(
        "DID_CHANGE_RENEWAL_PREF", "DOWNGRADE", upgraded, renewal: story.renewal(atMonth: 0.7), status: 1, atMonth: 0.7)
      #expect(try await story.tier() == "creator")
      #expect(try await story.alice.balance() == 1250)
      try await story.send("DID_RENEW", nil, story.transaction(3, from: 1.5), atMonth: 1.5)
      #expect(try await story.tier() == "explorer")
      #expect(try await story.alice.balance() == 1450)
    }
  }

  @Test(arguments: engines) func anExtendedPeriodEndsLater(engine: Engine) async throws {
    try await withStory(engine) { story in
      try await story.send("RENEWAL_EXTENDED", nil, story.transaction(1, months: 2), atMonth: 0.5)
      #expect(try await story.row()?.endsAt == story.at(2))
      #expect(try await story.alice.balance() == 250)
    }
  }

  @Test(arguments: engines) func aRefundTakesBackAndItsReversalGivesBack(engine: Engine) async throws {
    try await withStory(engine) { story in
      let refunded = story.transaction(
        1,
        changing: [
          "revocationDate": AppStore.milliseconds(story.at(0.5)), "revocationReason": 1,
          "revocationType": "REFUND_FULL", "revocationPercentage": 100_000,
        ])
      try await story.send("REFUND", nil, refunded, status: 5, atMonth: 0.5)
      #expect(try await story.alice.balance() == 50)
      #expect(try await story.row()?.status == "canceled")
      #expect(try await story.tier() == "free")
      // The app still has the transaction as it was before.
      #expect(try await story.alice.verify(story.store.sign(story.transaction(1))).int("balance") == 50)
      try await story.send("REFUND_REVERSED", nil, story.transaction(1), status: 1, atMonth: 0.6)
      #expect(try await story.alice.balance() == 250)
      #expect(try await story.row()?.status == "active")
      #expect(try await story.tier() == "explorer")
    }
  }

  @Test(arguments: engines) func aDeclinedRefundTakesNothing(engine: Engine) async throws {
    try await withStory(engine) { story in
      try await story.send("REFUND_DECLINED", nil, story.transaction(1), status: 1, atMonth: 0.5)
      #expect(try await story.alice.balance() == 250)
      #expect(try await story.row()?.status == "active")
    }
  }

  @Test(arguments: engines) func whoIsNotInTheFamilyAnyMoreLosesWhatWasShared(engine: Engine) async throws {
    try await withStory(engine) { story in
      let revoked = story.transaction(
        1,
        changing: [
          "revocationDate": AppStore.milliseconds(story.at(0.5)), "revocationReason": 0,
          "inAppOwnershipType": "FAMILY_SHARED", "revocationType": "FAMILY_REVOKE",
        ])
      try await story.send("REVOKE", nil, revoked, status: 5, atMonth: 0.5)
      #expect(try await story.alice.balance() == 50)
      #expect(try await story.row()?.status == "canceled")
    }
  }

  /// Thousandths of a percent, and the credits are rounded up.
  @Test(arguments: engines, [(33_333, 133), (1, 199), (99_999, 0), (0, 200), (100_000, 0)])
  func aProratedRefundTakesItsShare(engine: Engine, share: (thousandths: Int, left: Int)) async throws {
    try await withStory(engine) { story in
      let refunded = story.transaction(
        1,
        changing: [
          "revocationDate": AppStore.milliseconds(story.at(0.5)), "revocationType": "REFUND_PRORATED",
          "revocationPercentage": share.thousandths,
        ])
      try await story.send("REFUND", nil, refunded, atMonth: 0.5)
      #expect(try await story.alice.balance() == 50 + share.left)
    }
  }

  /// The refund has the whole transaction in it.
  @Test(arguments: engines) func aRefundBeforeItsPurchaseEndsAsAfterIt(engine: Engine) async throws {
    try await withApplePurchases(engine) { stack, store in
      let (alice, now) = (try await stack.signIn("alice"), stack.clock.now)
      let pack = AppStore.transaction("1", product: TestProduct.pack, for: alice.id, from: now)
      let revocation: AppStore.Payload = ["revocationDate": AppStore.milliseconds(now + 50)]
      try await stack.notify(store.notification("REFUND", about: pack.merging(revocation) { $1 }, at: now + 60))
      try await stack.waitForBilling()
      #expect(try await alice.balance() == 50)
      try await stack.notify(store.notification("ONE_TIME_CHARGE", about: pack, at: now))
      try await stack.waitForBilling()
      #expect(try await alice.balance() == 50)
      #expect(try await alice.verify(store.sign(pack)).int("balance") == 50)
      let statuses = try await stack.rows("select status from billing_purchase") {
        try $0.get("status", as: String.self)
      }
      #expect(statuses == ["refunded"])
    }
  }
}
