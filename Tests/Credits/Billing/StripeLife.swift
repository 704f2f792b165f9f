import Foundation
import Support
import Wire

/// A random life of a subscription, with packs, refunds and disputes: what Stripe sends of it, in order, and the objects
/// that it has at the end.
struct StripeLife {
  private(set) var events: [StripeEvent] = []
  private var random: SeededRandom
  private let objects: StripeObjects
  private let stripe: StripeServer
  /// Distinguishes the ids of two lives with the same seed.
  private let suffix: String
  private var seconds: Int
  private var count = 0
  private var subscription: (id: String, price: String, status: String, periodEnd: Int, cancels: Bool)?
  private var payments: [Payment] = []

  private struct Payment {
    let charge: String
    let intent: String
    let invoice: String?
    let product: String?
    let amount: Int
    var refunded = 0
    var isDisputed = false
  }

  private static let prices = [
    BillingProducts.explorerPrice, BillingProducts.creatorPrice, BillingProducts.studioPrice,
  ]
  private static let amounts = [799, 1999, 4999]

  init(seed: UInt64, _ objects: StripeObjects, suffix: String, on stripe: StripeServer, at start: Date) throws {
    random = SeededRandom(seed: seed)
    self.objects = objects
    self.stripe = stripe
    self.suffix = suffix
    seconds = Int(start.timeIntervalSince1970)
    try subscribe()
    for _ in 0..<Int.random(in: 6...14, using: &random) { try step() }
  }

  private mutating func step() throws {
    // Some events are of the same second as the ones before.
    seconds += [0, 1, 3600].randomElement(using: &random) ?? 1
    switch Int.random(in: 0..<10, using: &random) {
    case 0, 1: try buyPack()
    case 2, 3: try renew()
    case 4: try fail()
    case 5: try changePlan()
    case 6: try cancel()
    case 7: try refund()
    case 8: try dispute()
    default: try end()
    }
  }

  private mutating func id(_ prefix: String) -> String {
    count += 1
    return "\(prefix)_\(suffix)\(count)"
  }

  private mutating func emit(_ type: String, _ object: JSONValue) throws {
    events.append(try StripeEvent(type, object, id: id("evt"), at: seconds))
  }

  private mutating func emitSubscription(_ type: String, reason: String? = nil) throws {
    guard let subscription else { return }
    let object = objects.subscription(
      subscription.id, price: subscription.price, status: subscription.status, periodEnd: subscription.periodEnd,
      cancelsAtPeriodEnd: subscription.cancels, reason: reason)
    stripe.keep(object)
    try emit("customer.subscription.\(type)", object)
  }

  private mutating func pay(_ amount: Int, reason: String, lines: [JSONValue]) throws {
    guard let subscription else { return }
    let (invoice, intent, charge) = (id("in"), id("pi"), id("ch"))
    let object = objects.invoice(
      invoice, subscription: subscription.id, lines: lines, reason: reason, amount: amount, paidAt: seconds)
    stripe.keep(object)
    stripe.keep(objects.invoicePayment(id("inpay"), invoice: invoice, intent: intent))
    stripe.keep(objects.charge(charge, intent: intent, invoice: invoice, amount: amount))
    payments.append(Payment(charge: charge, intent: intent, invoice: invoice, product: nil, amount: amount))
    try emit("invoice.paid", object)
  }

  private mutating func subscribe() throws {
    let index = Int.random(in: 0..<3, using: &random)
    subscription = (id("sub"), Self.prices[index], "incomplete", seconds + 2_592_000, false)
    try emitSubscription("created")
    subscription?.status = "active"
    try emitSubscription("updated")
    try pay(
      Self.amounts[index], reason: "subscription_create",
      lines: [objects.line(Self.prices[index], amount: Self.amounts[index], periodEnd: seconds + 2_592_000)])
  }

  private mutating func renew() throws {
    guard let current = subscription, current.status != "canceled" else { return try subscribe() }
    let amount = Self.amounts[Self.prices.firstIndex(of: current.price) ?? 0]
    seconds += 2_592_000
    subscription?.periodEnd = seconds + 2_592_000
    subscription?.status = "active"
    try emitSubscription("updated")
    try pay(
      amount, reason: "subscription_cycle",
      lines: [objects.line(current.price, amount: amount, periodEnd: seconds + 2_592_000)])
  }

  private mutating func fail() throws {
    guard let current = subscription, current.status == "active" else { return }
    seconds += 2_592_000
    subscription?.status = "past_due"
    let line = objects.line(current.price, amount: 799, periodEnd: seconds + 2_592_000)
    let invoice = objects.invoice(
      id("in"), subscription: current.id, lines: [line], reason: "subscription_cycle", amount: 0, paidAt: seconds)
    try emit("invoice.payment_failed", invoice)
    try emitSubscription("updated")
  }

  private mutating func changePlan() throws {
    guard let current = subscription, current.status == "active" else { return }
    let old = Self.prices.firstIndex(of: current.price) ?? 0
    let new = (old + Int.random(in: 1...2, using: &random)) % 3
    subscription?.price = Self.prices[new]
    try emitSubscription("updated")
    let end = current.periodEnd
    try pay(
      max(0, Self.amounts[new] - Self.amounts[old]), reason: "subscription_update",
      lines: [
        objects.line(Self.prices[old], amount: -Self.amounts[old], periodEnd: end, isProration: true),
        objects.line(Self.prices[new], amount: Self.amounts[new], periodEnd: end, isProration: true),
      ])
  }

  private mutating func cancel() throws {
    guard subscription?.status == "active" else { return }
    subscription?.cancels = Bool.random(using: &random)
    try emitSubscription("updated")
  }

  private mutating func end() throws {
    guard let status = subscription?.status, status != "canceled" else { return }
    subscription?.status = "canceled"
    try emitSubscription("deleted", reason: status == "past_due" ? "payment_failed" : "cancellation_requested")
  }

  private mutating func buyPack() throws {
    let (session, intent, charge) = (id("cs"), id("pi"), id("ch"))
    let isDelayed = Bool.random(using: &random)
    func completed(_ status: String) -> JSONValue {
      objects.session(session, product: BillingProducts.pack, intent: intent, paymentStatus: status)
    }
    try emit("checkout.session.completed", completed(isDelayed ? "unpaid" : "paid"))
    if isDelayed {
      seconds += 86_400
      if Bool.random(using: &random) {
        return try emit("checkout.session.async_payment_failed", completed("unpaid"))
      }
      try emit("checkout.session.async_payment_succeeded", completed("paid"))
    }
    payments.append(
      Payment(charge: charge, intent: intent, invoice: nil, product: BillingProducts.pack, amount: 799))
    try keepCharge(payments.count - 1)
  }

  private func keepCharge(_ index: Int) throws { stripe.keep(charge(payments[index])) }

  private func charge(_ payment: Payment) -> JSONValue {
    objects.charge(
      payment.charge, intent: payment.intent, invoice: payment.invoice, product: payment.product,
      amount: payment.amount, refunded: payment.refunded)
  }

  private mutating func refund() throws {
    guard
      let index = payments.indices.filter({ payments[$0].refunded < payments[$0].amount })
        .randomElement(using: &random)
    else { return }
    for _ in 0..<2 {
      let left = payments[index].amount - payments[index].refunded
      guard left > 0 else { return }
      payments[index].refunded += Bool.random(using: &random) ? left : Int.random(in: 1...left, using: &random)
      try keepCharge(index)
      try emit("charge.refunded", charge(payments[index]))
    }
  }

  private mutating func dispute() throws {
    guard
      let index = payments.indices.filter({ !payments[$0].isDisputed && payments[$0].amount > 0 })
        .randomElement(using: &random)
    else { return }
    payments[index].isDisputed = true
    let (payment, id) = (payments[index], id("dp"))
    func dispute(_ status: String) -> JSONValue {
      objects.dispute(id, charge: payment.charge, intent: payment.intent, amount: payment.amount, status: status)
    }
    try emit("charge.dispute.created", dispute("needs_response"))
    seconds += [0, 86_400].randomElement(using: &random) ?? 0
    try emit("charge.dispute.updated", dispute("under_review"))
    guard let outcome = ["won", "lost", nil].randomElement(using: &random) ?? nil else { return }
    try emit("charge.dispute.closed", dispute(outcome))
    if outcome == "won" { try emit("charge.dispute.funds_reinstated", dispute(outcome)) }
  }
}
