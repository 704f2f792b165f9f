import Foundation

/// Spends credits of a user.
package struct SpendCredits: Codable, Sendable, Hashable {
  package let userID: UserID
  package let cost: Int
  package var transactionType: String?
  package var description: String?
  package var referenceID: String?
  package var referenceType: String?
  package var idempotencyKey: String?
  /// For a refund, which may take more than there is.
  package var createsDebt: Bool?

  package init(
    userID: UserID, cost: Int, transactionType: String? = nil, description: String? = nil,
    referenceID: String? = nil, referenceType: String? = nil, idempotencyKey: String? = nil
  ) {
    self.userID = userID
    self.cost = cost
    self.transactionType = transactionType
    self.description = description
    self.referenceID = referenceID
    self.referenceType = referenceType
    self.idempotencyKey = idempotencyKey
  }

  private enum CodingKeys: String, CodingKey {
    case userID = "user_id"
    case cost, description
    case transactionType = "transaction_type"
    case referenceID = "reference_id"
    case referenceType = "reference_type"
    case idempotencyKey = "idempotency_key"
    case createsDebt = "creates_debt"
  }
}

/// Grants credits to a user.
package struct GrantCredits: Codable, Sendable {
  package let userID: UserID
  package let amount: Int
  package var transactionType: String?
  package var description: String?
  package var idempotencyKey: String?
  /// nil for credits that do not expire.
  package var expiresAt: Date?

  package init(
    userID: UserID, amount: Int, transactionType: String? = nil, description: String? = nil,
    idempotencyKey: String? = nil
  ) {
    self.userID = userID
    self.amount = amount
    self.transactionType = transactionType
    self.description = description
    self.idempotencyKey = idempotencyKey
  }

  private enum CodingKeys: String, CodingKey {
    case userID = "user_id"
    case amount, description
    case transactionType = "transaction_type"
    case idempotencyKey = "idempotency_key"
    case expiresAt = "expires_at"
  }
}

/// The result of a spend or a grant. Insufficient credits are a result, not an error: `success` is false and nothing
/// was spent.
package struct CreditTransactionResult: Codable, Sendable, Hashable {
  package let success: Bool
  @NullCodable package var transactionID: OperationID?
  package let balanceAfter: Int
  @NullCodable package var error: String?

  package init(success: Bool, transactionID: OperationID?, balanceAfter: Int, error: String? = nil) {
    self.success = success
    self._transactionID = NullCodable(wrappedValue: transactionID)
    self.balanceAfter = balanceAfter
    self._error = NullCodable(wrappedValue: error)
  }

  private enum CodingKeys: String, CodingKey {
    case success, error
    case transactionID = "transaction_id"
    case balanceAfter = "balance_after"
  }
}

/// Whether a user could pay a cost now. May be out of date when it arrives; only a spend decides.
package struct CreditCheck: Codable, Sendable, Hashable {
  package let sufficient: Bool
  package let balance: Int

  package init(sufficient: Bool, balance: Int) {
    self.sufficient = sufficient
    self.balance = balance
  }
}

/// Reserves the price of an operation for work that takes long.
package struct OpenCreditHold: Codable, Sendable {
  package let userID: UserID
  package let operation: String
  package let referenceID: String
  package let referenceType: String
  /// A second hold under the same key is the first one.
  package let idempotencyKey: String
  /// Seconds after which the credits are given back by themselves.
  package let expiresIn: Int

  package init(
    userID: UserID, operation: String, referenceID: String, referenceType: String, idempotencyKey: String,
    expiresIn: Int
  ) {
    self.userID = userID
    self.operation = operation
    self.referenceID = referenceID
    self.referenceType = referenceType
    self.idempotencyKey = idempotencyKey
    self.expiresIn = expiresIn
  }

  private enum CodingKeys: String, CodingKey {
    case userID = "user_id"
    case operation
    case referenceID = "reference_id"
    case referenceType = "reference_type"
    case idempotencyKey = "idempotency_key"
    case expiresIn = "expires_in"
  }
}

/// Credits that are reserved.
package struct OpenedCreditHold: Codable, Sendable, Hashable {
  package let id: CreditHoldID
  package let cost: Int

  package init(id: CreditHoldID, cost: Int) {
    self.id = id
    self.cost = cost
  }
}

/// How a hold has ended.
package struct SettledCreditHold: Codable, Sendable, Hashable {
  package let id: CreditHoldID
  package let status: String
}

extension Failure {
  /// Nothing was charged. Apps show the message as it is.
  package static func insufficientCredits(cost: Int) -> Failure {
    Failure(
      .paymentRequired, "insufficient_credits",
      "Insufficient credits. This operation costs \(cost) credits.")
  }
}
