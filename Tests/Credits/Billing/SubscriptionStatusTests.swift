import Foundation
import Testing
import Wire

@testable import Credits

/// What the providers' words mean for the tier of a user.
@Suite struct SubscriptionStatusTests {
  private let now = Date(timeIntervalSince1970: 1_800_000_000)

  private func stored(
    _ status: Subscription.Status, endingAfter seconds: Double?, level: Int = 1
  ) -> StoredSubscription {
    StoredSubscription(
      provider: .stripe, id: "sub_1", user: .new(at: now), productID: "plan", tier: "creator", level: level,
      status: status, currentPeriodEnd: seconds.map { now + $0 }, willRenew: true, environment: "test", stateAt: now,
      revision: 1)
  }

  @Test(
    arguments: [
      (Subscription.Status.active, 60.0, true), (.active, -60, true), (.active, -3 * 86_400 + 1, true),
      (.active, -3 * 86_400, false), (.active, nil, true), (.pastDue, 60, true), (.pastDue, 0, false),
      (.pastDue, -60, false), (.pastDue, nil, true), (.canceled, 60, false), (.expired, 60, false), (.none, 60, false),
    ] as [(Subscription.Status, Double?, Bool)])
  func theTierLastsAsLongAsItIsPaid(status: Subscription.Status, end: Double?, isEntitled: Bool) {
    #expect(stored(status, endingAfter: end).isEntitled(at: now) == isEntitled)
  }

  @Test func ofSeveralTheOneInForceCounts() throws {
    let forgotten = stored(.active, endingAfter: -10 * 86_400, level: 3)
    let late = stored(.pastDue, endingAfter: 60, level: 1)
    #expect(forgotten.status(at: now) == .expired)
    #expect(StoredSubscription.current(of: [forgotten, late], at: now) == late)
    #expect(StoredSubscription.current(of: [late, forgotten], at: now) == late)
    let higher = stored(.pastDue, endingAfter: 30, level: 2)
    #expect(StoredSubscription.current(of: [late, higher], at: now) == higher)
    #expect(StoredSubscription.current(of: [], at: now) == nil)
  }

  @Test(arguments: [
    ("trialing", Subscription.Status.active, true), ("active", .active, true), ("past_due", .pastDue, true),
    ("canceled", .canceled, false), ("unpaid", .expired, false), ("paused", .expired, false),
    ("incomplete", .none, false), ("incomplete_expired", .expired, false), ("a new word", .none, false),
  ])
  func stripesWordsHaveOneMeaning(word: String, status: Subscription.Status, willRenew: Bool) throws {
    func subscription(_ more: String) throws -> StripeSubscription {
      let text = #"{"id":"sub_1","status":"\#(word)","items":{"data":[]}\#(more)}"#
      return try JSON.decode(StripeSubscription.self, from: Data(text.utf8))
    }
    #expect(try subscription("").entitlement == status)
    #expect(try subscription("").willRenew == willRenew)
    #expect(try !subscription(#","cancel_at_period_end":true"#).willRenew)
    #expect(try !subscription(#","cancel_at":1900000000"#).willRenew)
  }

  @Test func whoDidNotPayHasNotCanceled() throws {
    let text =
      #"{"id":"sub_1","status":"canceled","items":{"data":[]},"cancellation_details":{"reason":"payment_failed"}}"#
    #expect(try JSON.decode(StripeSubscription.self, from: Data(text.utf8)).entitlement == .expired)
  }
}
