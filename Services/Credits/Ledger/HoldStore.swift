import Database
import Foundation
import Wire

/// SQL on holds. A transaction locks first the row of a hold, then that of its account, then lots.
enum HoldStore {
  /// Reserves the cost, or nothing at all. A hold with an idempotency key is made once.
  ///
  /// - Parameter isChecked: as of ``LedgerStore/post(_:isChecked:on:)``.
  /// - Throws: 402 when too little is available; ``LedgerStore/AccountNotReady`` unless `isChecked`; 422 when the key
  ///   was used for another hold. When a concurrent transaction has made a hold under the key, the commit throws the
  ///   failure of the unique index: a second call then finds the hold.
  static func open(_ hold: CreditHold, isChecked: Bool, on db: any Connection) throws -> OpenedHold {
    if let account = try reserveIfCovered(hold, on: db) {
      guard isChecked || account.isSignupBonusSettled else { throw LedgerStore.AccountNotReady() }
      return OpenedHold(
        id: hold.id, cost: hold.cost, expiresAt: hold.expiresAt, balance: account.balance, held: account.held)
    }
    if let opened = try earlierHold(like: hold, on: db) { return opened }
    if let available = try LotExpiry.book(of: hold.user, at: hold.at, on: db), available >= hold.cost {
      return try open(hold, isChecked: isChecked, on: db)
    }
    guard isChecked else { throw LedgerStore.AccountNotReady() }
    throw Failure.insufficientCredits(cost: hold.cost)
  }

  /// The answer to a hold that the billing system refuses: the earlier one when it has been made before.
  ///
  /// - Throws: 402 when it has not.
  static func refuse(_ hold: CreditHold, on db: any Connection) throws -> OpenedHold {
    guard let opened = try earlierHold(like: hold, on: db) else { throw Failure.insufficientCredits(cost: hold.cost) }
    return opened
  }

  /// Reserves the cost; nil for the reasons of ``LedgerStore/post(_:isChecked:on:)``, and then nothing has changed.
  private static func reserveIfCovered(_ hold: CreditHold, on db: any Connection) throws -> ChangedAccount? {
    let row = try db.row(
      """
      update ledger_account set held = held + \(hold.cost)
      where id = \(hold.user) and balance - held >= \(hold.cost)
        and (lots_expire_at is null or lots_expire_at > \(hold.at))
        and \(LedgerStore.isUnused(hold.idempotencyKey, by: hold.caller, in: "credit_hold"))
      returning \(ChangedAccount.columns)
      """)
    guard let account = try row.map(ChangedAccount.init) else { return nil }
    try db.enqueue(
      """
      insert into credit_hold (id, account_id, amount, type, description, reference_id, reference_type, caller,
        idempotency_key, created_at, expires_at, opened_balance, opened_held)
      values (\(hold.id), \(hold.user), \(hold.cost), \(hold.type.rawValue), \(hold.description), \(hold.referenceID),
        \(hold.referenceType), \(hold.caller), \(hold.idempotencyKey), \(hold.at), \(hold.expiresAt),
        \(account.balance), \(account.held))
      """)
    try LotStore.enqueueReservation(hold.cost, for: hold.id, of: hold.user, on: db)
    return account
  }

  /// The hold that was made under the same key; nil when there is none.
  ///
  /// - Throws: 422 when that was a different one.
  private static func earlierHold(like hold: CreditHold, on db: any Connection) throws -> OpenedHold? {
    guard let key = hold.idempotencyKey else { return nil }
    let row = try db.row(
      """
      select id, account_id, amount, type, description, reference_id, reference_type, created_at, expires_at,
        opened_balance, opened_held
      from credit_hold where caller = \(hold.caller) and idempotency_key = \(key)
      """)
    guard let row else { return nil }
    let (madeAt, expiresAt) = (try row.get("created_at", as: Date.self), try row.get("expires_at", as: Date.self))
    let duration = expiresAt.timeIntervalSince(madeAt).rounded()
    let isSame =
      try row.get("account_id") == hold.user.description && row.get("amount") == hold.cost
      && row.get("type") == hold.type.rawValue && row.optional("description") == hold.description
      && row.optional("reference_id") == hold.referenceID && row.optional("reference_type") == hold.referenceType
      && duration == hold.expiresAt.timeIntervalSince(hold.at).rounded()
    guard isSame else { throw Failure.idempotencyKeyReused }
    return OpenedHold(
      id: try row.get("id"), cost: hold.cost, expiresAt: expiresAt, balance: try row.get("opened_balance"),
      held: try row.get("opened_held"), isRepeated: true)
  }

  /// Holds whose time is over, the longest ago first.
  static func due(at now: Date, on db: any Connection) throws -> [HoldID] {
    try db.rows(
      """
      select id from credit_hold where state = 'open' and expires_at <= \(now) order by expires_at limit 100
      """
    ).map { try $0.get("id") }
  }
}
