import Database
import Foundation
import Wire

/// Applies what the App Store reports about purchases to the ledger, the purchases and the subscriptions. Reports may be
/// applied in any order and more than once, with the same result.
struct ApplePurchases: Sendable {
  let products: Products
  let store: PurchaseStore
  let now: @Sendable () -> Date

  /// How long after the end of a period the App Store is asked what has become of the subscription.
  private static let checkDelaySeconds = 3600.0

  /// Applies a report to the account that owns the purchase: that of its `appAccountToken`, else the one that has claimed
  /// it. Without an owner the report waits for a claim.
  ///
  /// - Returns: the owner.
  /// - Throws: ``UnknownProduct``; 404 when there is no such user; 503 when auth cannot be reached.
  @discardableResult
  func apply(_ report: AppStoreReport) async throws -> UserID? {
    _ = try product(of: report.transaction)
    let now = now()
    if let account = report.transaction.account {
      _ = try await store.accounts.balance(ofUnchecked: account)
      try await store.database.write { [self] db in try apply(report, to: account, at: now, on: db) }
      return account
    }
    return try await store.database.write { [self] db in
      guard let owner = try AppleOwnerStore.lockedOwner(of: report.transaction.originalID, on: db) else {
        try AppleOwnerStore.add(report, at: now, on: db)
        return nil
      }
      try apply(report, to: owner, at: now, on: db)
      return owner
    }
  }

  /// Applies a transaction that a signed-in user has sent. Without an `appAccountToken` the user claims it, and what has
  /// been reported about it before is applied as well.
  ///
  /// - Parameter user: whose account is open.
  /// - Throws: 403 when it is another user's; ``UnknownProduct``.
  func apply(_ transaction: AppStoreTransaction, from user: UserID) async throws -> PurchaseRecord {
    guard transaction.account == nil || transaction.account == user else { throw Failure.purchaseOfAnotherUser }
    _ = try product(of: transaction)
    let now = now()
    return try await store.database.write { [self] db in
      var reports: [AppStoreReport] = []
      if transaction.account == nil {
        let owner = try AppleOwnerStore.claim(transaction.originalID, by: user, at: now, on: db)
        guard owner == user else { throw Failure.purchaseOfAnotherUser }
        reports = try AppleOwnerStore.takeReports(of: transaction.originalID, on: db)
      }
      for report in reports + [AppStoreReport(transaction)] { try apply(report, to: user, at: now, on: db) }
      let purchase = try PurchaseStore.purchase(.apple, transaction.id, on: db)
      guard let purchase, purchase.user == user else { throw Failure.purchaseOfAnotherUser }
      return purchase
    }
  }

  /// Deletes what was reported about a purchase that nobody has claimed. Refunds are recorded, as those that are reported
  /// before their payment: who claims the purchase later keeps nothing that was refunded.
  func deleteReports(of originalID: String, before date: Date) async throws {
    let now = now()
    try await store.database.write { [self] db in
      _ = try AppleOwnerStore.lockedOwner(of: originalID, on: db)
      for report in try AppleOwnerStore.takeReports(of: originalID, before: date, on: db) {
        guard let share = report.revokedShare else { continue }
        guard let refund = Self.refund(share, of: report.transaction, at: report.at) else { continue }
        try store.record(refund, at: now, on: db)
      }
      try AppleOwnerStore.deleteUnowned(originalID, on: db)
    }
  }

  private func product(of transaction: AppStoreTransaction) throws(UnknownProduct) -> Product {
    guard let product = products[transaction.productID] else { throw UnknownProduct(id: transaction.productID) }
    return product
  }

  /// Locks the subscription, then the purchase, then the ledger's account.
  private func apply(_ report: AppStoreReport, to user: UserID, at now: Date, on db: any Connection) throws {
    let transaction = report.transaction
    let product = try product(of: transaction)
    var state: SubscriptionState?
    if product.plan != nil { state = try AppleSubscriptionStore.locked(transaction, on: db) }
    _ = try store.grant(purchase(transaction, of: product, by: user), at: now, on: db)
    if let share = report.revokedShare, let refund = Self.refund(share, of: transaction, at: report.at) {
      try store.record(refund, at: now, on: db)
    }
    guard var state else { return }
    if let phase = report.phase { state.take(phase) }
    if let renewal = report.renewal { state.take(renewal) }
    if let period = report.period { state.take(period) }
    try set(&state, of: transaction, user: user, at: now, on: db)
  }

  private func purchase(
    _ transaction: AppStoreTransaction, of product: Product, by user: UserID
  ) throws -> Purchase {
    let (credits, isTooLarge) = product.credits.multipliedReportingOverflow(by: transaction.quantity)
    guard !isTooLarge, credits <= CreditOperation.amountMax else { throw ParkedEvent("its quantity is too large") }
    return Purchase(
      provider: .apple, transactionID: transaction.id,
      subscriptionID: product.plan == nil ? nil : transaction.originalID, user: user, productID: product.id,
      quantity: transaction.quantity, credits: credits, type: product.plan == nil ? .appleIAP : .subscriptionGrant,
      amount: transaction.amount, currency: transaction.currency?.lowercased(), environment: transaction.environment,
      purchasedAt: transaction.purchasedAt, expiresAt: transaction.expiresAt,
      creditsExpireAt: product.creditsExpire(afterPaymentAt: transaction.purchasedAt))
  }

  /// The App Store reports one share of each transaction, which replaces the one that it has reported before.
  private static func refund(_ share: Int, of transaction: AppStoreTransaction, at date: Date) -> PurchaseRefund? {
    PurchaseRefund(
      .apple, transactionID: transaction.id, id: transaction.id, amount: share, of: AppStoreTransaction.wholeShare,
      stateAt: date)
  }

  private func set(
    _ state: inout SubscriptionState, of transaction: AppStoreTransaction, user: UserID, at now: Date,
    on db: any Connection
  ) throws {
    let id = transaction.originalID
    let bought = try state.period.flatMap { try PurchaseStore.purchase(.apple, $0.transactionID, on: db) }
    state.isRevoked = bought.map { $0.status != .paid } ?? false
    try AppleSubscriptionStore.set(state, of: id, checkAt: Self.checkAt(state, now), on: db)
    let productID = state.period?.productID ?? transaction.productID
    guard let product = products[productID], let plan = product.plan else { throw UnknownProduct(id: productID) }
    // The row of the state is locked, so the revision is the current one.
    let stored = try SubscriptionStore.subscription(.apple, id, on: db)
    _ = try SubscriptionStore.apply(
      Subscription(
        provider: .apple, id: id, user: user, productID: product.id, tier: plan.tier, level: plan.level,
        status: state.status, currentPeriodEnd: state.endsAt, willRenew: state.willRenew,
        environment: transaction.environment, stateAt: state.reportedAt), replacing: .revision(stored?.revision), on: db
    )
    if let owner = bought?.user { try SubscriptionStore.assign(.apple, id, to: owner, on: db) }
  }

  /// When the App Store is asked what has become of a subscription; nil for never.
  private static func checkAt(_ state: SubscriptionState, _ now: Date) -> Date? {
    guard state.isOpen, let end = state.endsAt else { return nil }
    return max(end + checkDelaySeconds, now + checkDelaySeconds)
  }
}

extension SubscriptionState {
  /// Whether the App Store may still renew it.
  fileprivate var isOpen: Bool { currentPhase != .expired && currentPhase != .revoked }

  fileprivate var status: Subscription.Status {
    switch currentPhase {
    case .active: .active
    case .grace, .billingRetry: .pastDue
    case .expired: .expired
    case .revoked: .canceled
    }
  }
}

extension AppStoreTransaction {
  /// What was paid, in the smallest unit of the currency.
  fileprivate var amount: Int? {
    guard let price, let currency else { return nil }
    return price / (Self.wholeCurrencies.contains(currency) ? 1000 : 10)
  }

  /// The currencies of the App Store's storefronts that have no smaller unit.
  private static let wholeCurrencies: Set = ["CLP", "JPY", "KRW", "VND"]
}

/// A purchase of a product that is not in the file of products.
struct UnknownProduct: Error, CustomStringConvertible {
  let id: String

  var description: String { "BILLING_PRODUCTS has no product \(id)" }
}

extension Failure {
  static let purchaseOfAnotherUser = Failure(
    .forbidden, "purchase_of_another_user", "This purchase belongs to another account.")
}
