import Database
import Foundation
import Web
import Wire

/// SQL on the ledger. The update of a user's account row is the lock, and the values that it returns are authoritative.
struct LedgerStore: Sendable {
  let database: any Database
  let signupCredits: Int

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
  }

  /// nil when the account has not been opened.
  func account(of user: UserID) async throws -> Account? {
    try await database.readOnce { try Self.account(of: user, on: $0) }
  }

  /// Opens the account and, if `grantsSignupBonus`, grants the signup credits, each once however many calls are
  /// concurrent. Safe to repeat.
  func open(_ user: UserID, grantsSignupBonus: Bool, at now: Date) async throws -> Balance {
    try await database.write { [signupCredits] db in
      try db.change(
        """
        insert into ledger_account (id, kind, balance, opened_at) values (\(user), 'user', 0, \(now))
        on conflict (id) do nothing
        """)
      if grantsSignupBonus {
        let settledCount = try db.change(
          "update ledger_account set is_welcomed = \(true) where id = \(user) and not is_welcomed")
        if settledCount == 1, signupCredits > 0 {
          _ = try Self.postIfCovered(.signupBonus(signupCredits, for: user, at: now), on: db)
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
    if let posted = try postIfCovered(operation, on: db) {
      guard isChecked || posted.isSignupBonusSettled else { throw AccountNotReady() }
      return .posted(operation.id, balanceAfter: posted.balance)
    }
    if let outcome = try earlierOutcome(of: operation, on: db) { return outcome }
    // Not decided by reading the account now: the signup credits may have been granted since the update.
    guard isChecked else { throw AccountNotReady() }
    return .insufficient(balance: try account(of: operation.user, on: db)?.balance.current ?? 0)
  }

  /// The user's postings, the newest first.
  func history(
    of user: UserID, limit: Int, offset: Int = 0, before cursor: HistoryCursor? = nil
  ) async throws -> [HistoryEntry] {
    try await database.read { db in
      try Self.history(of: user, limit: limit, offset: offset, before: cursor, on: db)
    }
  }

  /// An account's postings are numbered without gaps, so the offset is subtracted instead of walked.
  ///
  /// - Parameters:
  ///   - offset: how many of the newest to skip, without a cursor.
  ///   - cursor: the last entry of the previous page.
  static func history(
    of user: UserID, limit: Int, offset: Int = 0, before cursor: HistoryCursor? = nil, on db: any Connection
  ) throws -> [HistoryEntry] {
    try db.rows(
      """
      select p.position, p.amount, p.balance_after, o.type, o.description, o.reference_id, o.reference_type,
        o.created_at
      from ledger_posting p join ledger_operation o on o.id = p.operation_id
      where p.account_id = \(user)
        and p.position <= coalesce(cast(\(cursor.map { $0.position - 1 }) as bigint),
          (select posting_count - \(offset) from ledger_account where id = \(user)))
      order by p.position desc limit \(limit)
      """
    ).map(HistoryEntry.init)
  }

  /// Posts the operation; nil when one has been posted under the same idempotency key or the balance is too small, and
  /// then nothing has changed.
  private static func postIfCovered(
    _ operation: CreditOperation, on db: any Connection
  ) throws -> (balance: Int, isSignupBonusSettled: Bool)? {
    let (gained, taken) = (max(operation.amount, 0), max(-operation.amount, 0))
    let account = try db.row(
      """
      update ledger_account set balance = balance + \(operation.amount), posting_count = posting_count + 1,
        lifetime_earned = lifetime_earned + \(gained), lifetime_spent = lifetime_spent + \(taken)
      where id = \(operation.user) and balance >= \(taken) and not exists (select 1 from ledger_operation
        where caller = \(operation.caller) and idempotency_key = \(operation.idempotencyKey))
      returning balance, posting_count, is_welcomed
      """)
    guard let account else { return nil }
    let balance = try account.get("balance", as: Int.self)
    try db.enqueue(
      """
      insert into ledger_operation
        (id, type, description, reference_id, reference_type, caller, idempotency_key, created_at)
      values (\(operation.id), \(operation.type.rawValue), \(operation.description), \(operation.referenceID),
        \(operation.referenceType), \(operation.caller), \(operation.idempotencyKey), \(operation.at))
      """)
    try db.enqueue(
      """
      insert into ledger_posting (operation_id, account_id, amount, balance_after, position)
      values (\(operation.id), \(operation.user), \(operation.amount), \(balance),
          \(try account.get("posting_count", as: Int.self))),
        (\(operation.id), \(operation.counterpart.id), \(-operation.amount), null, null)
      """)
    CreditEvents.balanceChanged(to: balance, by: operation, on: db)
    return (balance, try account.get("is_welcomed"))
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
    return .repeated(try row.get("id"), balanceAfter: try row.get("balance_after"))
  }

  private static func account(of user: UserID, on db: any Connection) throws -> Account? {
    try db.row(
      """
      select balance, lifetime_earned, lifetime_spent, is_welcomed from ledger_account where id = \(user)
      """
    ).map { row in
      Account(
        balance: Balance(
          current: try row.get("balance"), lifetimeEarned: try row.get("lifetime_earned"),
          lifetimeSpent: try row.get("lifetime_spent")), isSignupBonusSettled: try row.get("is_welcomed"))
    }
  }
}

extension HistoryEntry {
  fileprivate init(_ row: Row) throws {
    position = try row.get("position")
    amount = try row.get("amount")
    balanceAfter = try row.get("balance_after")
    type = try row.get("type")
    description = try row.optional("description")
    referenceID = try row.optional("reference_id")
    referenceType = try row.optional("reference_type")
    createdAt = try row.get("created_at")
  }
}
