import Database
import Hummingbird
import Web

/// Operations that are posted once, whether the request's header or its body carries the key.
struct Postings: Sendable {
  let accounts: Accounts
  let idempotency: Idempotency

  /// - Throws: 404 when there is no such user; 409 and 422 about the key.
  func once(
    _ call: IdempotentCall?, _ operation: Operation,
    _ reply: @escaping @Sendable (LedgerStore.Outcome) throws -> Reply
  ) async throws -> Response {
    func post() async throws -> Response {
      try await idempotency.once(call) {
        _ = try await accounts.balance(ofNamed: operation.user)
      } effect: { db in
        try reply(try LedgerStore.post(operation, on: db))
      }.response
    }
    do { return try await post() } catch DatabaseFailure.unique("ledger_operation_idempotency") {
      // Somebody posted under the body's key a moment ago, which is now there to be found.
      return try await post()
    }
  }
}
