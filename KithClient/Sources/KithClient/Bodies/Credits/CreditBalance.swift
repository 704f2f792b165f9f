import Foundation

/// What the user can spend.
public struct CreditBalance: Sendable, Equatable, Codable {
  public let balance: Int
  /// Without what is held for work that is not finished.
  public let available: Int?
  /// For work that is not finished.
  public let held: Int?
  /// What was taken back after it was spent.
  public let debt: Int?
  public let lifetimeEarned: Int
  public let lifetimeSpent: Int

  private enum CodingKeys: String, CodingKey {
    case balance, available, held, debt
    case lifetimeEarned = "lifetime_earned"
    case lifetimeSpent = "lifetime_spent"
  }

  public init(balance: Int, available: Int?, held: Int?, debt: Int?, lifetimeEarned: Int, lifetimeSpent: Int) {
    self.balance = balance
    self.available = available
    self.held = held
    self.debt = debt
    self.lifetimeEarned = lifetimeEarned
    self.lifetimeSpent = lifetimeSpent
  }
}

/// A movement of the user's credits. What was spent is negative.
public struct CreditEntry: Sendable, Equatable, Codable {
  public let amount: Int
  public let balanceAfter: Int
  public let type: String
  @NullCodable public private(set) var description: String?
  /// What it was for, as the next one.
  @NullCodable public private(set) var referenceID: String?
  @NullCodable public private(set) var referenceType: String?
  public let createdAt: Date

  private enum CodingKeys: String, CodingKey {
    case amount, type, description
    case balanceAfter = "balance_after"
    case referenceID = "reference_id"
    case referenceType = "reference_type"
    case createdAt = "created_at"
  }

  public init(
    amount: Int, balanceAfter: Int, type: String, description: String?, referenceID: String?, referenceType: String?,
    createdAt: Date
  ) {
    self.amount = amount
    self.balanceAfter = balanceAfter
    self.type = type
    self.description = description
    self.referenceID = referenceID
    self.referenceType = referenceType
    self.createdAt = createdAt
  }
}

/// What operations cost, by name.
package struct CreditCostsAnswer: Sendable, Codable {
  package let costs: [String: Int]

  package init(costs: [String: Int]) {
    self.costs = costs
  }
}
