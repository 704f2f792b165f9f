import Web
import Wire

/// What other services ask of the ledger.
package struct CreditsClient: Sendable {
  private let client: ServiceClient

  package init(in surroundings: Surroundings) { client = ServiceClient(.credits, in: surroundings) }

  /// Whether the user could pay `cost` now.
  package func check(_ user: UserID, cost: Int) async throws -> CreditCheck {
    try await client.call(
      .GET, "/internal/credits/check", query: ["user_id": user.description, "cost": String(cost)])
  }

  /// Takes credits, or nothing. With an `idempotencyKey` it is safe to repeat: the same key is charged once.
  ///
  /// - Throws: 402 `insufficient_credits`, fit to be rethrown to the app.
  package func spend(_ spend: SpendCredits) async throws -> CreditsMoved {
    let moved: CreditsMoved = try await client.call(
      .POST, "/internal/credits/spend", body: spend, isRepeatable: spend.idempotencyKey != nil)
    guard moved.success else { throw Failure.insufficientCredits(cost: spend.cost) }
    return moved
  }

  /// Gives credits. With an `idempotencyKey` it is safe to repeat.
  package func grant(_ grant: GrantCredits) async throws -> CreditsMoved {
    try await client.call(
      .POST, "/internal/credits/grant", body: grant, isRepeatable: grant.idempotencyKey != nil)
  }
}
