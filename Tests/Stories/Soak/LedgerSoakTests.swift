import Database
import Foundation
import Support
import Testing
import Wire

@testable import Credits

/// Random operations on few accounts by many callers, while `kith-credits` is killed over and over: the auditor finds
/// nothing, and the histories have what was acknowledged, once. `make soak` runs a million of them.
@Suite(.serialized) struct LedgerSoakTests {
  private static let settings = ProcessInfo.processInfo.environment
  private static let operationCount = settings["KITH_SOAK_OPERATIONS"].flatMap { Int($0) } ?? 1500
  private static let seed = settings["KITH_SOAK_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 0...UInt64.max)
  private static let userCount = 200
  private static let callerCount = 32

  @Test(arguments: engines) func nothingAcknowledgedIsLostAndNothingIsAppliedTwice(engine: Engine) async throws {
    print("KITH_SOAK_OPERATIONS=\(Self.operationCount) KITH_SOAK_SEED=\(Self.seed) on \(engine.rawValue)")
    try await withTestDatabase(engine) { testDatabase in
      let processes = try ServiceProcesses(["auth", "credits"], in: testDatabase)
      var credits = try #require(processes.all["credits"])
      try await processes.ready()
      let users = try await SoakCaller.signUp(Self.userCount, through: try #require(processes.all["auth"]).gateway)
      let service = credits.gateway.with(["X-Service-Key": TestStack.keys["billing+credits"] ?? ""])
      let log = SoakLog(count: Self.operationCount)
      let callers = Task { await call(service, users, log) }
      var killCount = 0
      while !log.isFinished {
        let next = log.answered + Self.operationCount / 8
        let end = ContinuousClock.now + .seconds(Double.random(in: 1.5...4))
        while ContinuousClock.now < end, log.answered < next, !log.isFinished {
          try await Task.sleep(for: .milliseconds(20))
        }
        await credits.kill()
        killCount += 1
        credits = try processes.restart("credits")
        try await credits.healthy("/health/ready")
      }
      await callers.value
      #expect(killCount >= 3)
      credits = try await endLastHolds(credits, processes, in: testDatabase)
      try await expectHealthyAudit(service)
      _ = await credits.stop()
      _ = await processes.all["auth"]?.stop()
      let posted = try await LedgerComparison(log, testDatabase).postingCount()
      let audited = try await auditEverything(in: testDatabase)
      #expect(audited >= posted)
      print("\(log.answered) answers, \(posted) postings, \(audited) operations audited, \(killCount) kills")
    }
  }

  private func call(_ service: Browser, _ users: [UserID], _ log: SoakLog) async {
    await withDiscardingTaskGroup { group in
      for number in 0..<Self.callerCount {
        let random = SeededRandom(seed: Self.seed &+ UInt64(number))
        group.addTask {
          var caller = SoakCaller(credits: service, users: users, log: log, random: random)
          await caller.run()
        }
      }
    }
  }

  /// What nobody has settled is given back by the worker: at its next start, when the time of all holds is over.
  private func endLastHolds(
    _ credits: KithProcess, _ processes: ServiceProcesses, in testDatabase: TestDatabase
  ) async throws -> KithProcess {
    try await eventually("the time of the last holds") {
      try await testDatabase.count("credit_hold where state = 'open' and expires_at > \(Date())", in: "credits") == 0
    }
    await credits.kill()
    let restarted = try processes.restart("credits")
    try await eventually("the end of the last holds") {
      try await testDatabase.count("credit_hold where state = 'open'", in: "credits") == 0
    }
    try await restarted.healthy("/health/ready")
    return restarted
  }

  private func expectHealthyAudit(_ service: Browser) async throws {
    let audit = try await service.get("/internal/credits/audit")
    #expect(audit.status == 200 && audit.string("status") == "ok", "\(audit.text)")
  }

  /// Verifies the whole ledger, from its first operation on. Returns how many operations it has.
  private func auditEverything(in testDatabase: TestDatabase) async throws -> Int {
    let database = try await testDatabase.open(creditsSchema)
    try await database.write { db in
      try db.change(
        "update ledger_audit set verified_operation_id = \(OperationID.first(at: .distantPast)) where id = 1")
    }
    // At a time when no transaction can add an operation any more.
    let now = { @Sendable in Date() + 2 * LedgerAuditor.commitDelayMax }
    let status = AuditStatus(in: .init(), now: now)
    let auditor = LedgerAuditor(database: database, status: status, logger: quiet, now: now, interval: .seconds(60))
    var (count, report) = (0, try await auditor.audit())
    while report.operationCount > 0 {
      count += report.operationCount
      report = try await auditor.audit()
    }
    #expect(report.isConsistent, "\(report.findings.prefix(5))")
    await database.close()
    return count
  }
}
