import Foundation

/// The user's credits.
public struct Credits: Sendable {
  /// What the user can spend.
  public typealias Balance = CreditBalance
  /// A movement of the user's credits.
  public typealias Entry = CreditEntry

  let api: API

  /// What the user has now.
  public func balance() async throws -> Balance { try await api.value(.get("/api/v1/credits/balance")) }

  /// Newest first.
  ///
  /// - Parameter limit: 1 to 100.
  public func history(limit: Int = 20, offset: Int = 0) async throws -> [Entry] {
    try await api.value(.get("/api/v1/credits/history", ["limit": String(limit), "offset": String(offset)]))
  }

  /// What operations cost, by name. Nobody needs to be signed in.
  public func costs() async throws -> [String: Int] {
    try await api.value(Call.get("/api/v1/credits/costs").anonymous, as: CreditCostsAnswer.self).costs
  }
}
