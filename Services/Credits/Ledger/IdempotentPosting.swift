import Database
import Hummingbird
import Web

/// Posts operations once, whether the idempotency key is in the request's header or in its body.
struct IdempotentPosting: Sendable {
  let accounts: CreditAccounts
  let idempotency: Idempotency

  /// Posts the operation and returns the stored response when it is repeated.
  ///
  /// - Throws: 404 when there is no such user; 409 and 422 for the idempotency key.
  func post(
    _ call: IdempotentCall?, _ operation: CreditOperation,
    _ reply: @escaping @Sendable (LedgerStore.Outcome) throws -> Reply
  ) async throws -> Response {
    func attempt() async throws -> Response {
      do {
        return try await idempotency.once(call) { db in try reply(LedgerStore.post(operation, on: db)) }.response
      } catch is LedgerStore.AccountNotReady {
        return try await idempotency.once(call) {
          _ = try await accounts.balance(ofUnchecked: operation.user)
        } effect: { _, db in
          try reply(LedgerStore.post(operation, isChecked: true, on: db))
        }.response
      }
    }
    do { return try await attempt() } catch DatabaseFailure.unique("ledger_operation_idempotency") {
      // A concurrent request has posted under the key in the body; the second attempt finds its operation.
      return try await attempt()
    }
  }
}
