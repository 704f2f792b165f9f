import Database
import Foundation
import Web
import Wire

/// SQL on the ledger. The update of a user's account row is the lock, and the values that it returns are authoritative.
struct LedgerStore: Sendable {
  let database: any Database
  let signupCredits: Int
  /// Called in the transaction of each grant.
  var onGranted: @Sendable (CreditOperation, any Connection) throws -> Void = { _, _ in }

  /// The outcome of posting an operation.
  enum Outcome: Sendable, Hashable {
    case posted(OperationID, balanceAfter: Int)
    /// The operation was posted before under the same idempotency key.
    case repeated(OperationID, balanceAfter: Int)
    case insufficient(balance: Int)
  }

  /// A user's balance, and whether the signup credits are settled: granted, or granted before users had to verify an
  /// address or number.
  struct Account: Sendable {
    let balance: Balance
    /// Stored in the column `is_welcomed`.
    let isSignupBonusSettled: Bool
    /// When the first of its lots expires, at the earliest.
    let lotsExpireAt: Date?

    /// Whether its balance is as it is: no signup credits are to be granted, and no lots have expired.
    func isSettled(at now: Date) -> Bool { isSignupBonusSettled && lotsExpireAt.map { $0 > now } ?? true }
  }

  /// nil when the account has not been opened. Lots that have expired are booked first.
  func account(of user: UserID, at now: Date) async throws -> Account? {
    let account = try await database.row(Self.accountQuery(user)).map(Account.init)
    guard let account, let expiry = account.lotsExpireAt, expiry <= now else { return account }
    return try await database.write { db in
      try LotExpiry.book(of: user, at: now, on: db)
      return try Self.account(of: user, on: db)
    }
  }

  /// Opens the account and, if `grantsSignupBonus`, grants the signup credits, each once however many calls are
  /// concurrent. Safe to repeat.
  func open(_ user: UserID, grantsSignupBonus: Bool, at now: Date) async throws -> Balance {
    try await database.write { [signupCredits, onGranted] db in
      try db.change(
        """
        insert into ledger_account (id, kind, balance, opened_at) values (\(user), 'user', 0, \(now))
        on conflict (id) do nothing
        """)
      if grantsSignupBonus {
        let settledCount = try db.change(
          "update ledger_account set is_welcomed = \(true) where id = \(user) and not is_welcomed")
        if settledCount == 1, signupCredits > 0 {
          let bonus = CreditOperation.signupBonus(signupCredits, for: user, at: now)
          if try Self.postIfCovered(bonus, on: db) != nil { try onGranted(bonus, db) }
        }
      }
      guard let account = try Self.account(of: user, on: db) else { throw DatabaseFailure.contended }
      return account.balance
    }
  }

  /// An operation cannot be posted before ``CreditAccounts`` has been asked: the account is not open, its signup
  /// credits are not settled, or the balance is too small, perhaps without them.
  struct AccountNotReady: Error {}

  /// Posts an operation, or nothing at all. An operation with an idempotency key is posted once.
  ///
  /// - Parameter isChecked: ``CreditAccounts`` has been asked, so the account is as it is.
  /// - Throws: ``AccountNotReady`` unless `isChecked`; 422 when the key was used for another operation. When a
  ///   concurrent transaction has posted under the key, the commit throws the failure of the unique index: a second
  ///   call then finds its operation.
  static func post(
    _ operation: CreditOperation, isChecked: Bool = false, on db: any Connection
  ) throws -> Outcome {
    if let account = try postIfCovered(operation, on: db) {
      guard isChecked || account.isSignupBonusSettled else { throw AccountNotReady() }
      return .posted(operation.id, balanceAfter: max(0, account.net))
    }
    if let outcome = try earlierOutcome(of: operation, on: db) { return outcome }
    let available = try LotExpiry.book(of: operation.user, at: operation.at, on: db)
    if let available, available >= operation.required {
      return try post(operation, isChecked: isChecked, on: db)
    }
    // Not decided by reading the account now: the signup credits may have been granted since the update.
    guard isChecked else { throw AccountNotReady() }
    return .insufficient(balance: try account(of: operation.user, on: db)?.balance.current ?? 0)
  }

  /// The outcome of an operation that the billing system refuses: the earlier one when it has been posted before.
  static func refuse(_ operation: CreditOperation, on db: any Connection) throws -> Outcome {
    if let outcome = try earlierOutcome(of: operation, on: db) { return outcome }
    return .insufficient(balance: try account(of: operation.user, on: db)?.balance.current ?? 0)
  }

  /// Posts the operation; nil when one has been posted under the same idempotency key, when the balance is too small or
  /// when lots have expired that are not booked, and then nothing has changed.
  ///
  /// There is no debt beside available credits, so that the two are one number: what is available less the debt.
  private static func postIfCovered(_ operation: CreditOperation, on db: any Connection) throws -> ChangedAccount? {
    let (amount, gained, taken) = (operation.amount, max(operation.amount, 0), max(-operation.amount, 0))
    let row = try db.row(
      """
      update ledger_account set
        balance = held + case when balance - held - debt + \(amount) > 0 then balance - held - debt + \(amount) else 0 end,
        debt = case when balance - held - debt + \(amount) < 0 then held + debt - balance - \(amount) else 0 end,
        posting_count = posting_count + 1,
        lifetime_earned = lifetime_earned + \(gained), lifetime_spent = lifetime_spent + \(taken)
      where id = \(operation.user) and balance - held >= \(operation.required)
        and (lots_expire_at is null or lots_expire_at > \(operation.at))
        and \(isUnused(operation.idempotencyKey, by: operation.caller, in: "ledger_operation"))
      returning \(ChangedAccount.columns)
      """)
    guard let account = try row.map(ChangedAccount.init) else { return nil }
    try operation.enqueuePostings(at: account.postingCount, net: account.net, on: db)
    if gained > 0 {
      try LotStore.enqueueLot(
        of: operation, at: account.postingCount, payingDebt: account.paidDebt(of: gained), on: db)
    } else {
      try LotStore.enqueueTaking(taken, from: operation.user, on: db)
    }
    CreditEvents.balanceChanged(to: account.balance, by: operation, on: db)
    return account
  }

  /// A condition: the caller has made nothing in `table` under the key. True without a key, which needs a statement of
  /// its own: nothing equals null, and PostgreSQL would plan each call anew to make use of that.
  static func isUnused(_ key: String?, by caller: String?, in table: SQL) -> SQL {
    guard let key, let caller else { return "true" }
    return "not exists (select 1 from \(table) where caller = \(caller) and idempotency_key = \(key))"
  }

  /// The outcome of an earlier operation under the same key; nil when there is none.
  ///
  /// - Throws: 422 when that operation was a different one.
  private static func earlierOutcome(of operation: CreditOperation, on db: any Connection) throws -> Outcome? {
    guard let key = operation.idempotencyKey, let caller = operation.caller else { return nil }
    let row = try db.row(
      """
      select o.id, o.type, o.description, o.reference_id, o.reference_type, p.account_id, p.amount, p.balance_after
      from ledger_operation o join ledger_posting p on p.operation_id = o.id and p.balance_after is not null
      where o.caller = \(caller) and o.idempotency_key = \(key)
      """)
    guard let row else { return nil }
    let isSame =
      try row.get("account_id") == operation.user.description && row.get("amount") == operation.amount
      && row.get("type") == operation.type.rawValue && row.optional("description") == operation.description
      && row.optional("reference_id") == operation.referenceID
      && row.optional("reference_type") == operation.referenceType
    guard isSame else { throw Failure.idempotencyKeyReused }
    return .repeated(try row.get("id"), balanceAfter: max(0, try row.get("balance_after")))
  }

  private static func account(of user: UserID, on db: any Connection) throws -> Account? {
    try db.row(accountQuery(user)).map(Account.init)
  }

  static func accountQuery(_ user: UserID) -> SQL {
    """
    select balance, held, debt, lifetime_earned, lifetime_spent, is_welcomed, lots_expire_at from ledger_account
    where id = \(user)
    """
  }
}

extension LedgerStore.Account {
  init(_ row: Row) throws {
    self.init(
      balance: Balance(
        current: try row.get("balance"), held: try row.get("held"), debt: try row.get("debt"),
        lifetimeEarned: try row.get("lifetime_earned"), lifetimeSpent: try row.get("lifetime_spent")),
      isSignupBonusSettled: try row.get("is_welcomed"), lotsExpireAt: try row.optional("lots_expire_at"))
  }
}
