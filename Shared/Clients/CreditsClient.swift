import Web
import Wire

/// The internal API of the credits service.
package struct CreditsClient: Sendable {
  private let client: ServiceClient

  package init(in dependencies: Dependencies) { client = ServiceClient(.credits, in: dependencies) }

  /// Whether the user could pay `cost` now.
  package func check(_ user: UserID, cost: Int) async throws -> CreditCheck {
    try await client.call(
      .GET, "/internal/credits/check", query: ["user_id": user.description, "cost": String(cost)])
  }

  /// Spends all of the cost or nothing. Safe to repeat with an `idempotencyKey`: a key is charged once.
  ///
  /// - Throws: 402 `insufficient_credits`, which may be passed on to the app.
  package func spend(_ spend: SpendCredits) async throws -> CreditTransactionResult {
    let result: CreditTransactionResult = try await client.call(
      .POST, "/internal/credits/spend", body: spend, isRepeatable: spend.idempotencyKey != nil)
    guard result.success else { throw Failure.insufficientCredits(cost: spend.cost) }
    return result
  }

  /// Grants credits. Safe to repeat with an `idempotencyKey`.
  package func grant(_ grant: GrantCredits) async throws -> CreditTransactionResult {
    try await client.call(
      .POST, "/internal/credits/grant", body: grant, isRepeatable: grant.idempotencyKey != nil)
  }

  /// Reserves the price of an operation. Safe to repeat: a key has one hold.
  ///
  /// - Throws: 402 `insufficient_credits`, which may be passed on to the app.
  package func hold(_ hold: OpenCreditHold) async throws -> OpenedCreditHold {
    try await client.call(.POST, "/internal/credits/holds", body: hold, isRepeatable: true)
  }

  /// Charges what is held. Safe to repeat.
  ///
  /// - Throws: 404 for an unknown hold; 409 when it is released, or its time is over.
  @discardableResult
  package func capture(_ hold: CreditHoldID) async throws -> SettledCreditHold {
    try await client.call(.POST, "/internal/credits/holds/\(hold)/capture", isRepeatable: true)
  }

  /// Gives back what is held. Safe to repeat.
  ///
  /// - Throws: 404 for an unknown hold; 409 when it is captured, or its time is over.
  @discardableResult
  package func release(_ hold: CreditHoldID) async throws -> SettledCreditHold {
    try await client.call(.POST, "/internal/credits/holds/\(hold)/release", isRepeatable: true)
  }
}
