import Foundation
import Wire

/// What an audit checks.
enum AuditCheck: String, Sendable, CaseIterable {
  /// The two postings of an operation sum to zero.
  case postings
  /// A posting follows on the one before it in its account: the next position, and its balance plus the amount.
  case history
  /// An account's balance less its debt is the sum of its postings, and what it has earned less what it has spent.
  case balance
  /// What an account has held is the sum of its open holds, and of what they reserve in lots.
  case holds
  /// What is left of an account's lots is its balance, and what is held in them is what it has held.
  case lots
}

/// Something that an audit has found to be wrong.
struct AuditFinding: Sendable, Hashable {
  let check: AuditCheck
  /// The id of an operation or account.
  let subject: String
}

/// An operation with its postings, as one snapshot shows them.
struct AuditedOperation: Sendable {
  let id: OperationID
  let postingCount: Int
  /// Of the amounts of all its postings.
  let sum: Int
  /// The account of its posting to a user; nil when there is none.
  let account: String?
  /// Whether that posting follows on the one before it.
  let isLinked: Bool

  var findings: [AuditFinding] {
    [(postingCount == 2 && sum == 0, AuditCheck.postings), (isLinked, .history)]
      .filter { !$0.0 }.map { AuditFinding(check: $0.1, subject: id.description) }
  }
}

/// A user's account with the sums that it must equal, as one snapshot shows them.
struct AuditedAccount: Sendable {
  let id: String
  let balance: Int
  let held: Int
  let debt: Int
  /// What was earned less what was spent.
  let lifetime: Int
  /// The sum of its postings, which the last one has; nil when that is not at the position that the account says.
  let posted: Int?
  let openHolds: Int
  let reserved: Int
  let remainingOfLots: Int
  let heldOfLots: Int

  var findings: [AuditFinding] {
    [
      (posted == balance - debt && lifetime == balance - debt, AuditCheck.balance),
      (openHolds == held && reserved == held, .holds), (remainingOfLots == balance && heldOfLots == held, .lots),
    ].filter { !$0.0 }.map { AuditFinding(check: $0.1, subject: id) }
  }
}

/// What an audit has looked at and what it has found.
struct AuditFindings: Sendable {
  var operationCount = 0
  var accountCount = 0
  var findings: Set<AuditFinding> = []

  mutating func add(_ operations: [AuditedOperation]) {
    operationCount += operations.count
    for operation in operations { findings.formUnion(operation.findings) }
  }

  mutating func add(_ accounts: [AuditedAccount]) {
    accountCount += accounts.count
    for account in accounts { findings.formUnion(account.findings) }
  }
}
