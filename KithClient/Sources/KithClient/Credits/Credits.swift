import Foundation

/// The user's credits.
public struct Credits: Sendable {
  /// What the user can spend.
  public struct Balance: Sendable, Equatable, Decodable {
    public let balance: Int
    /// Without what is held for work that is not finished.
    public let available: Int?
    /// For work that is not finished.
    public let held: Int?
    public let lifetimeEarned: Int
    public let lifetimeSpent: Int
  }

  /// A movement of the user's credits. What was spent is negative.
  public struct Entry: Sendable, Equatable, Decodable {
    public let amount: Int
    public let balanceAfter: Int
    public let type: String
    public let description: String?
    public let createdAt: Date
  }

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
    struct Answer: Decodable { let costs: [String: Int] }
    return try await api.value(Call.get("/api/v1/credits/costs").anonymous, as: Answer.self).costs
  }
}
