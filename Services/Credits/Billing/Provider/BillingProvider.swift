import Database
import Wire

/// The hooks of a billing system: it is asked before credits are spent, and notified after they are granted. Whatever
/// it answers, the ledger refuses what a user cannot pay.
protocol BillingProvider: Sendable {
  /// Whether the user may spend `cost` credits. Asked before each spend and each hold.
  ///
  /// - Throws: 503 when the billing system does not answer.
  func checkCredits(_ user: UserID, cost: Int) async throws -> Bool

  /// Called in the transaction of each grant, which it must not delay.
  func onCreditsGranted(_ operation: CreditOperation, on db: any Connection) throws
}

/// `BILLING=noop`: lets everything pass.
struct NoOpBilling: BillingProvider {
  func checkCredits(_ user: UserID, cost: Int) async throws -> Bool { true }
  func onCreditsGranted(_ operation: CreditOperation, on db: any Connection) throws {}
}

/// `BILLING=ledger`: a user may spend what the ledger has.
struct LedgerBilling: BillingProvider {
  let accounts: CreditAccounts

  func checkCredits(_ user: UserID, cost: Int) async throws -> Bool {
    try await accounts.balance(ofUnchecked: user).available >= cost
  }

  func onCreditsGranted(_ operation: CreditOperation, on db: any Connection) throws {}
}
