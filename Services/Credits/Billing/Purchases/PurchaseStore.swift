import Database
import Foundation
import Wire

/// Statements on purchases and their refunds. Each changes the ledger in the same transaction: credits are granted once
/// for a purchase, and what is taken back always is the share of its refunds, whichever of them is recorded first.
///
/// The row of a purchase is the lock: it is locked before the ledger's account.
struct PurchaseStore: Sendable {
  let database: any Database
  let accounts: CreditAccounts

  /// Records a purchase and grants its credits. Safe to repeat.
  ///
  /// - Returns: false when it has been recorded before; then nothing has changed.
  /// - Throws: 404 when there is no such user; 503 when auth cannot be reached.
  @discardableResult
  func grant(_ purchase: Purchase, at now: Date) async throws -> Bool {
    _ = try await accounts.balance(ofUnchecked: purchase.user)
    return try await database.write { [self] db in try grant(purchase, at: now, on: db) }
  }

  /// The same in the transaction of the caller, after ``CreditAccounts/balance(ofUnchecked:)`` has opened the account.
  func grant(_ purchase: Purchase, at now: Date, on db: any Connection) throws -> Bool {
    try Self.insertAwaited(purchase.provider, purchase.transactionID, at: now, on: db)
    let isNew = try db.change(
      """
      update billing_purchase set status = 'paid', subscription_id = \(purchase.subscriptionID),
        user_id = \(purchase.user), product_id = \(purchase.productID), quantity = \(purchase.quantity),
        credits = \(purchase.credits), amount = \(purchase.amount), currency = \(purchase.currency),
        environment = \(purchase.environment), purchased_at = \(purchase.purchasedAt),
        expires_at = \(purchase.expiresAt)
      where provider = \(purchase.provider.rawValue) and transaction_id = \(purchase.transactionID)
        and status = 'awaited'
      """)
    guard isNew == 1 else { return false }
    try postGrant(of: purchase, at: now, on: db)
    try settle(purchase.provider, purchase.transactionID, at: now, on: db)
    return true
  }

  /// Records the state of a refund, and takes back or gives back the credits by which the share of the purchase's
  /// refunds has changed. Safe to repeat, and in any order with other states of the refund and with the purchase.
  func record(_ refund: PurchaseRefund, at now: Date) async throws {
    try await database.write { [self] db in try record(refund, at: now, on: db) }
  }

  func record(_ refund: PurchaseRefund, at now: Date, on db: any Connection) throws {
    try Self.insertAwaited(refund.provider, refund.transactionID, at: now, on: db)
    // Of two states of the same time, the one that takes more back: both orders have the same result.
    let isNewer = try db.change(
      """
      insert into billing_refund (provider, transaction_id, refund_id, amount, total, is_final, state_at)
      values (\(refund.provider.rawValue), \(refund.transactionID), \(refund.id), \(refund.amount), \(refund.total),
        \(refund.isFinal), \(refund.stateAt))
      on conflict (provider, transaction_id, refund_id) do update set amount = excluded.amount,
        total = excluded.total, is_final = excluded.is_final, state_at = excluded.state_at
      where (excluded.is_final and not billing_refund.is_final)
        or (excluded.is_final = billing_refund.is_final and (excluded.state_at > billing_refund.state_at
          or (excluded.state_at = billing_refund.state_at and excluded.amount > billing_refund.amount)))
      """)
    if isNewer == 1 { try settle(refund.provider, refund.transactionID, at: now, on: db) }
  }

  /// Inserts the row that whoever comes second waits for.
  private static func insertAwaited(
    _ provider: PurchaseProvider, _ transactionID: String, at now: Date, on db: any Connection
  ) throws {
    try db.change(
      """
      insert into billing_purchase (id, provider, transaction_id, status, recorded_at)
      values (\(PurchaseID.new(at: now)), \(provider.rawValue), \(transactionID), 'awaited', \(now))
      on conflict (provider, transaction_id) do nothing
      """)
  }

  private func postGrant(of purchase: Purchase, at now: Date, on db: any Connection) throws {
    guard purchase.credits > 0 else { return }
    let operation = CreditOperation(
      id: .new(at: now), user: purchase.user, amount: purchase.credits, type: purchase.type,
      description: purchase.productID, referenceID: purchase.transactionID, referenceType: Self.referenceType,
      caller: purchase.provider.rawValue, idempotencyKey: purchase.transactionID, at: now,
      expiresAt: purchase.creditsExpireAt)
    switch try LedgerStore.post(operation, isChecked: true, on: db) {
    case .posted: try accounts.store.onGranted(operation, db)
    case .repeated: break
    case .insufficient: throw PurchaseNotPosted()
    }
  }

  /// Posts the difference between what the refunds take back of a purchase and what has been taken back, and sets the
  /// purchase's status.
  ///
  /// The row is locked whatever its status is: of a refund and a purchase that are recorded at the same time, the second
  /// one to lock it sees the other.
  private func settle(
    _ provider: PurchaseProvider, _ transactionID: String, at now: Date, on db: any Connection
  ) throws {
    let locked = try db.row(
      """
      update billing_purchase set revision = revision + 1
      where provider = \(provider.rawValue) and transaction_id = \(transactionID)
      returning status, user_id, credits, credits_taken_back, revision
      """)
    guard let locked, try locked.get("status") != "awaited" else { return }
    let refunds = try db.rows(
      """
      select amount, total from billing_refund
      where provider = \(provider.rawValue) and transaction_id = \(transactionID) limit 1000
      """
    ).map { (amount: try $0.get("amount", as: Int.self), total: try $0.get("total", as: Int.self)) }
    let credits = try locked.get("credits", as: Int.self)
    let takenBack = min(credits, refunds.reduce(0) { $0 + PurchaseRefund.share(of: credits, $1.amount, of: $1.total) })
    let change = takenBack - (try locked.get("credits_taken_back", as: Int.self))
    if change != 0, let user = try locked.optional("user_id", as: UserID.self) {
      let operation = CreditOperation(
        id: .new(at: now), user: user, amount: -change, type: .refund, referenceID: transactionID,
        referenceType: Self.referenceType, caller: provider.rawValue,
        idempotencyKey: "\(transactionID) refund \(try locked.get("revision", as: Int.self))", at: now,
        createsDebt: true)
      guard case .posted = try LedgerStore.post(operation, isChecked: true, on: db) else { throw PurchaseNotPosted() }
    }
    try db.change(
      """
      update billing_purchase set credits_taken_back = \(takenBack), status = \(Self.status(refunds).rawValue)
      where provider = \(provider.rawValue) and transaction_id = \(transactionID)
      """)
  }

  private static func status(_ refunds: [(amount: Int, total: Int)]) -> PurchaseRecord.Status {
    // A million is precise enough for a status; the credits are computed exactly.
    let share = refunds.reduce(0) { $0 + PurchaseRefund.share(of: 1_000_000, $1.amount, of: $1.total) }
    return share >= 1_000_000 ? .refunded : share > 0 ? .partiallyRefunded : .paid
  }

  private static let referenceType = "purchase"
}

/// The ledger has not posted the operation of a purchase. The transaction is rolled back.
struct PurchaseNotPosted: Error, CustomStringConvertible {
  var description: String { "the ledger has not posted the purchase" }
}
