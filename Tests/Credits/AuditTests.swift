import Database
import Foundation
import Support
import Testing
import Wire

@testable import Credits

/// The auditor finds what is wrong with the ledger, however it came about, and reads no more than what has changed.
@Suite struct AuditTests {
  /// Statements that break the ledger as no code of ours does, and the checks that find it.
  private static func faults(_ user: UserID, at now: Date) -> [(SQL, Set<AuditCheck>)] {
    let id = OperationID.new(at: now)
    return [
      ("update ledger_account set balance = balance + 1 where id = \(user)", [.balance, .lots]),
      ("update ledger_account set lifetime_spent = lifetime_spent + 1 where id = \(user)", [.balance]),
      ("update ledger_account set held = held + 1 where id = \(user)", [.holds, .lots]),
      ("update ledger_account set posting_count = posting_count + 1 where id = \(user)", [.balance]),
      ("update credit_lot set remaining = remaining - 1 where account_id = \(user) and remaining > held + 1", [.lots]),
      ("update credit_lot set held = held + 1 where account_id = \(user) and remaining > held + 1", [.lots]),
      ("update credit_hold set amount = amount + 1 where account_id = \(user) and state = 'open'", [.holds]),
      ("delete from credit_hold_lot", [.holds]),
      ("insert into ledger_operation (id, type, created_at) values (\(id), 'chat', \(now))", [.postings, .history]),
    ]
  }

  @Test(arguments: engines) func everyFaultIsFoundAndItsRepairToo(engine: Engine) async throws {
    for index in Self.faults(.new(at: Date()), at: Date()).indices {
      try await withTestDatabase(engine) { testDatabase in
        let ledger = try await LedgerFixture(testDatabase)
        let alice = try await ledger.user(50)
        try await ledger.spend(1, of: alice)
        _ = try await ledger.hold(10, of: alice)
        try await ledger.expectConsistency()
        let (fault, checks) = Self.faults(alice, at: ledger.clock.now)[index]
        #expect(try await ledger.database.write { db in try db.change(fault) } >= 1)
        let report = try await ledger.auditor.audit()
        #expect(Set(report.counts.keys) == checks, "\(fault.text)")
        #expect(ledger.auditor.status.text == "inconsistent")
        await ledger.database.close()
      }
    }
  }

  @Test(arguments: engines) func aFindingStaysUntilItIsRepaired(engine: Engine) async throws {
    try await withLedger(engine) { ledger in
      let alice = try await ledger.user(50)
      try await ledger.database.write { db in
        try db.change("update credit_lot set remaining = 49 where account_id = \(alice)")
      }
      #expect(try await ledger.auditor.audit().findings == [.init(check: .lots, subject: alice.description)])
      // The audit of a later day no longer looks at this account because of its operations.
      ledger.clock.advance(by: .seconds(86_400))
      for _ in 0..<2 { #expect(try await ledger.auditor.audit().counts == [.lots: 1]) }
      try await ledger.database.write { db in
        try db.change("update credit_lot set remaining = 50 where account_id = \(alice)")
      }
      #expect(try await ledger.auditor.audit().isConsistent)
    }
  }

  @Test(arguments: engines) func anAuditReadsWhatHasChangedSince(engine: Engine) async throws {
    try await withLedger(engine) { ledger in
      let (alice, bob) = (try await ledger.user(50), try await ledger.user(50))
      let first = try await ledger.auditor.audit()
      #expect((first.operationCount, first.accountCount) == (2, 2))
      ledger.clock.advance(by: .seconds(600))
      // The point moves to the operations of two minutes ago, and then they are behind it.
      _ = try await ledger.auditor.audit()
      let idle = try await ledger.auditor.audit()
      #expect((idle.operationCount, idle.accountCount) == (0, 0))
      try await ledger.spend(1, of: alice)
      let spend = try await ledger.auditor.audit()
      #expect((spend.operationCount, spend.accountCount) == (1, 1))
      // A hold makes no posting.
      ledger.clock.advance(by: .seconds(600))
      _ = try await ledger.auditor.audit()
      let hold = try await ledger.hold(1, of: bob)
      #expect(try await ledger.auditor.audit().accountCount == 1)
      try await ledger.settle(hold, as: .release)
      #expect(try await ledger.auditor.audit().accountCount == 1)
    }
  }

  /// An operation whose transaction commits after a later one was audited.
  @Test(arguments: engines) func whatCommitsLateIsAuditedToo(engine: Engine) async throws {
    try await withTestDatabase(engine) { testDatabase in
      let ledger = try await LedgerFixture(testDatabase)
      let alice = try await ledger.user(50)
      let late = OperationID.new(at: ledger.clock.now)
      ledger.clock.advance(by: .seconds(60))
      try await ledger.spend(1, of: alice)
      try await ledger.expectConsistency()
      try await ledger.database.write { [clock = ledger.clock] db in
        try db.change("insert into ledger_operation (id, type, created_at) values (\(late), 'chat', \(clock.now))")
      }
      let report = try await ledger.auditor.audit()
      #expect(report.findings.contains(.init(check: .postings, subject: late.description)))
      await ledger.database.close()
    }
  }

  @Test(arguments: engines) func thePassOverEverythingFindsWhatNobodyHasTouched(engine: Engine) async throws {
    try await withTestDatabase(engine) { testDatabase in
      let ledger = try await LedgerFixture(testDatabase)
      let alice = try await ledger.user(50)
      for _ in 0..<3 {
        ledger.clock.advance(by: .seconds(600))
        try await ledger.expectConsistency()
      }
      try await ledger.database.write { db in
        try db.change("update ledger_account set lifetime_earned = 51 where id = \(alice)")
      }
      try await ledger.expectConsistency()
      try await ledger.auditor.auditIfDue()
      #expect(ledger.auditor.status.text == "inconsistent")
      let report = try await ledger.auditor.audit()
      #expect(report.findings == [.init(check: .balance, subject: alice.description)])
      #expect(report.passEndedAt != nil)
      await ledger.database.close()
    }
  }

  /// Every posting of a long history is compared with the one before it.
  @Test(arguments: engines) func batchesFollowOnEachOther(engine: Engine) async throws {
    try await withTestDatabase(engine) { testDatabase in
      let ledger = try await LedgerFixture(testDatabase)
      let (alice, now) = (try await ledger.user(), ledger.clock.now)
      try await ledger.database.write { db in
        for _ in 0..<4500 {
          let grant = CreditOperation(id: .new(at: now), user: alice, amount: 1, type: .adminGrant, at: now)
          _ = try LedgerStore.post(grant, isChecked: true, on: db)
        }
      }
      let report = try await ledger.auditor.audit()
      #expect(report.isConsistent && report.operationCount == 4500)
      ledger.clock.advance(by: .seconds(600))
      // A posting that does not follow on the one before it.
      let id = OperationID.new(at: ledger.clock.now)
      try await ledger.database.write { [clock = ledger.clock] db in
        try db.change("insert into ledger_operation (id, type, created_at) values (\(id), 'chat', \(clock.now))")
        try db.change(
          """
          insert into ledger_posting (operation_id, account_id, amount, balance_after, position)
          values (\(id), \(alice), 5, 4506, 4501), (\(id), 'system', -5, null, null)
          """)
      }
      #expect(try await ledger.auditor.audit().findings.contains(.init(check: .history, subject: id.description)))
      await ledger.database.close()
    }
  }

  @Test(arguments: engines) func ofManyReplicasOneAuditsAtATime(engine: Engine) async throws {
    try await withLedger(engine) { ledger in
      for _ in 0..<2 {
        let now = ledger.clock.now
        let claims = try await atOnce(50) { _ in
          try await ledger.database.write { try AuditProgressStore.claim(at: now, every: .seconds(60), on: $0) }
        }
        #expect(claims.count { $0 } == 1)
        ledger.clock.advance(by: .seconds(61))
      }
    }
  }
}
