import Foundation
import Wire

/// The type of an operation, in the vocabulary of the apps' history.
enum OperationType: String, Sendable, CaseIterable {
  case signupBonus = "signup_bonus"
  case generation, chat, temporal
  case adminGrant = "admin_grant"
  case appleIAP = "apple_iap"
  case stripePurchase = "stripe_purchase"
  case subscriptionGrant = "subscription_grant"
  case refund, expiry

  /// The type of a grant; an unknown type counts as the administrator's grant.
  static func granted(_ text: String?) -> OperationType { text.flatMap(OperationType.init) ?? .adminGrant }

  /// The type of a spend; an unknown or missing type counts as a generation.
  static func spent(_ text: String?) -> OperationType { text.flatMap(OperationType.init) ?? .generation }
}

/// The account of a user, or one of the two accounts on the other side of postings.
enum LedgerAccount: Hashable, Sendable {
  case user(UserID)
  /// Issues granted credits.
  case system
  /// Receives spent credits.
  case revenue

  var id: String {
    switch self {
    case .user(let user): user.description
    case .system: "system"
    case .revenue: "revenue"
    }
  }
}

/// One transfer of credits between a user's account and another. Its two postings are each other's negative, so an
/// operation always sums to zero.
struct CreditOperation: Sendable, Hashable {
  let id: OperationID
  let user: UserID
  /// The change of the user's balance; negative for a spend. Never zero, which the database checks.
  let amount: Int
  let type: OperationType
  var description: String?
  var referenceID: String?
  var referenceType: String?
  /// The caller, and the idempotency key under which the caller may repeat the operation.
  var caller: String?
  var idempotencyKey: String?
  let at: Date
  /// When the granted credits expire; nil for credits that do not.
  var expiresAt: Date?
  /// Whether it may take more than there is, as a refund may: the rest is debt.
  var createsDebt = false

  var counterpart: LedgerAccount { amount > 0 ? .system : .revenue }

  /// The largest amount of one operation, far from where sums could overflow.
  static let amountMax = 1_000_000_000

  static func signupBonus(_ amount: Int, for user: UserID, at now: Date) -> CreditOperation {
    CreditOperation(
      id: .new(at: now), user: user, amount: amount, type: .signupBonus, description: "Welcome credits", at: now)
  }
}

/// The balance of a user's account and its lifetime totals.
struct Balance: Sendable, Hashable {
  let current: Int
  let lifetimeEarned: Int
  let lifetimeSpent: Int
}

/// One posting in a user's history.
struct HistoryEntry: Sendable, Hashable {
  /// Its number in the user's history, from 1 for the oldest.
  let position: Int
  let amount: Int
  let balanceAfter: Int
  let type: String
  let description: String?
  let referenceID: String?
  let referenceType: String?
  let createdAt: Date
}
