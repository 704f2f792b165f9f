import Foundation
import Wire

/// What can happen to credits, in the words of the apps' history.
enum OperationType: String, Sendable, CaseIterable {
  case signupBonus = "signup_bonus"
  case generation, chat, temporal
  case adminGrant = "admin_grant"
  case appleIAP = "apple_iap"
  case stripePurchase = "stripe_purchase"
  case subscriptionGrant = "subscription_grant"
  case refund, expiry

  /// A grant of a type that nobody knows is the admin's.
  static func granted(_ text: String?) -> OperationType { text.flatMap(OperationType.init) ?? .adminGrant }

  /// A spend of a type that nobody knows is a generation, as one without a type is.
  static func spent(_ text: String?) -> OperationType { text.flatMap(OperationType.init) ?? .generation }
}

/// Where credits come from and go to.
enum LedgerAccount: Hashable, Sendable {
  case user(UserID)
  /// Issues what is given.
  case system
  /// Receives what is spent.
  case revenue

  var id: String {
    switch self {
    case .user(let user): user.description
    case .system: "system"
    case .revenue: "revenue"
    }
  }
}

/// One movement of credits between a user and another account. Its two postings are each other's negative, so an
/// operation always sums to zero.
struct Operation: Sendable, Hashable {
  let id: OperationID
  let user: UserID
  /// What the user gains; negative for a spend. Never zero.
  let amount: Int
  let type: OperationType
  var description: String?
  var referenceID: String?
  var referenceType: String?
  /// Who asks, and the key under which the same operation may be asked for again.
  var caller: String?
  var idempotencyKey: String?
  let at: Date

  var counterpart: LedgerAccount { amount > 0 ? .system : .revenue }

  /// The largest amount of one operation, far from where sums could overflow.
  static let amountMax = 1_000_000_000

  static func signupBonus(_ amount: Int, for user: UserID, at now: Date) -> Operation {
    Operation(
      id: .new(at: now), user: user, amount: amount, type: .signupBonus, description: "Welcome credits", at: now)
  }
}

/// A user's account as the apps see it.
struct Balance: Sendable, Hashable {
  let balance: Int
  let lifetimeEarned: Int
  let lifetimeSpent: Int
}

/// One line of a user's history.
struct HistoryEntry: Sendable, Hashable {
  let amount: Int
  let balanceAfter: Int
  let type: String
  let description: String?
  let referenceID: String?
  let referenceType: String?
  let createdAt: Date
}

/// What an operation cost the apps' users.
let costs = [
  "generate_balanced": 5, "generate_hd": 10, "generate_hyper": 5, "generate_gemini3": 5, "chat": 1,
  "temporal_jump": 2,
]
