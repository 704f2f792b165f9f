import Database
import Foundation
import Support
import Testing
import Wire

@testable import Credits

/// The ledger without HTTP: its stores on a real database, with a clock that tests move.
struct LedgerFixture {
  let database: any Database
  let clock = TestClock()
  let store: LedgerStore
  let auditor: LedgerAuditor

  init(_ testDatabase: TestDatabase, connections: Int = 6) async throws {
    self.init(try await testDatabase.open("credits", creditsMigrations, connections: connections))
  }

  init(_ database: any Database) {
    let clock = clock
    self.database = database
    store = LedgerStore(database: database, signupCredits: 0)
    auditor = LedgerAuditor(
      database: database, status: AuditStatus(in: .init(), now: { clock.now }), logger: quiet, now: { clock.now },
      interval: .seconds(60))
  }

  /// A user with an account.
  func user(_ credits: Int = 0) async throws -> UserID {
    let user = UserID.new(at: clock.now)
    _ = try await store.open(user, grantsSignupBonus: true, at: clock.now)
    if credits > 0 { try await grant(credits, to: user) }
    return user
  }

  @discardableResult
  func post(_ operation: CreditOperation) async throws -> LedgerStore.Outcome {
    try await database.write { db in try LedgerStore.post(operation, isChecked: true, on: db) }
  }

  @discardableResult
  func grant(_ amount: Int, to user: UserID, expiringAfter seconds: Double? = nil) async throws -> OperationID {
    let now = clock.now
    var operation = CreditOperation(id: .new(at: now), user: user, amount: amount, type: .adminGrant, at: now)
    operation.expiresAt = seconds.map { now + $0 }
    try await post(operation)
    return operation.id
  }

  @discardableResult
  func spend(_ amount: Int, of user: UserID) async throws -> LedgerStore.Outcome {
    try await post(.init(id: .new(at: clock.now), user: user, amount: -amount, type: .generation, at: clock.now))
  }

  @discardableResult
  func refund(_ amount: Int, of user: UserID) async throws -> LedgerStore.Outcome {
    var operation = CreditOperation(
      id: .new(at: clock.now), user: user, amount: -amount, type: .refund, at: clock.now)
    operation.createsDebt = true
    return try await post(operation)
  }

  func hold(
    _ cost: Int, of user: UserID, for seconds: Double = 600, key: String? = nil
  ) async throws -> OpenedHold {
    let now = clock.now
    let hold = CreditHold(
      id: .new(at: now), user: user, cost: cost, type: .generation, caller: "tests", idempotencyKey: key, at: now,
      expiresAt: now + seconds)
    return try await database.write { db in try HoldStore.open(hold, isChecked: true, on: db) }
  }

  @discardableResult
  func settle(_ hold: OpenedHold, as settlement: HoldSettlement) async throws -> SettledHold {
    let now = clock.now
    return try await database.write { db in try HoldStore.settle(hold.id, as: settlement, at: now, on: db) }
  }

  func balance(of user: UserID) async throws -> Balance {
    try #require(try await store.account(of: user, at: clock.now)).balance
  }

  /// What is left of the user's open lots, in the order in which they are spent.
  func lots(of user: UserID) async throws -> [Int] {
    try await database.read { db in
      try db.rows(
        """
        select remaining from credit_lot where account_id = \(user) and is_open
        order by expires_at nulls last, position
        """
      ).map { try $0.get("remaining") }
    }
  }

  func amounts(of user: UserID) async throws -> [Int] {
    try await store.history(of: user, limit: 1000).map(\.amount).reversed()
  }

  /// Ends holds and lots whose time is over, as the worker does.
  func expire() async throws {
    try await CreditExpiry(database: database, logger: quiet, now: { [clock] in clock.now }, interval: .seconds(60))
      .expire()
  }

  /// Audits what has changed, and expects that nothing is wrong.
  func expectConsistency(sourceLocation: SourceLocation = #_sourceLocation) async throws {
    let report = try await auditor.audit()
    #expect(report.isConsistent, "\(report.findings)", sourceLocation: sourceLocation)
  }
}

func withLedger(
  _ engine: Engine, connections: Int = 6, _ body: (LedgerFixture) async throws -> Void
) async throws {
  try await withTestDatabase(engine) { testDatabase in
    let fixture = try await LedgerFixture(testDatabase, connections: connections)
    try await body(fixture)
    try await fixture.expectConsistency()
    await fixture.database.close()
  }
}
