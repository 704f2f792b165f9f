import Database
import Hummingbird
import Web
import Wire

/// Runs transactions on a user's account once, whether the idempotency key is in the request's header or in its body,
/// and opens the account first where necessary.
struct IdempotentPosting: Sendable {
  let accounts: CreditAccounts
  let idempotency: Idempotency
  let billing: any BillingProvider

  /// Posts the operation and returns the stored response when it is repeated.
  ///
  /// - Throws: 404 when there is no such user; 409 and 422 for the idempotency key.
  func post(
    _ call: IdempotentCall?, _ operation: CreditOperation,
    _ reply: @escaping @Sendable (LedgerStore.Outcome) throws -> Reply
  ) async throws -> Response {
    if operation.amount < 0, try await !billing.checkCredits(operation.user, cost: -operation.amount) {
      return try await idempotency.once(call) { db in try reply(LedgerStore.refuse(operation, on: db)) }.response
    }
    return try await transaction(call, of: operation.user) { isChecked, db in
      let outcome = try LedgerStore.post(operation, isChecked: isChecked, on: db)
      if operation.amount > 0, case .posted = outcome { try accounts.store.onGranted(operation, db) }
      return try reply(outcome)
    }
  }

  /// Makes the hold, or returns the reply to the first request when it is repeated.
  ///
  /// - Throws: 402 when too little is available, and as ``post(_:_:_:)``.
  func open(
    _ call: IdempotentCall?, _ hold: CreditHold, _ reply: @escaping @Sendable (OpenedHold) throws -> Reply
  ) async throws -> Response {
    guard try await billing.checkCredits(hold.user, cost: hold.cost) else {
      return try await idempotency.once(call) { db in try reply(HoldStore.refuse(hold, on: db)) }.response
    }
    return try await transaction(call, of: hold.user) { isChecked, db in
      try reply(HoldStore.open(hold, isChecked: isChecked, on: db))
    }
  }

  /// - Parameter body: gets whether ``CreditAccounts`` has been asked, and throws ``LedgerStore/AccountNotReady`` when
  ///   it has to be.
  private func transaction(
    _ call: IdempotentCall?, of user: UserID, _ body: @escaping @Sendable (Bool, any Connection) throws -> Reply
  ) async throws -> Response {
    func attempt() async throws -> Response {
      do {
        return try await idempotency.once(call) { try body(false, $0) }.response
      } catch is LedgerStore.AccountNotReady {
        return try await idempotency.once(call) {
          _ = try await accounts.balance(ofUnchecked: user)
        } effect: { _, db in
          try body(true, db)
        }.response
      }
    }
    do { return try await attempt() } catch DatabaseFailure.unique(let index) where Self.indexes.contains(index) {
      // A concurrent request has committed under the key in the body; the second attempt finds what it has made.
      return try await attempt()
    }
  }

  private static let indexes: Set = ["ledger_operation_idempotency", "credit_hold_idempotency"]
}
