import Database
import Foundation
import Support
import Testing

/// The primary of a cluster with synchronous replication is killed under load: nothing that was acknowledged is lost or
/// applied twice, requests fail with 503 and a time to come back, and soon succeed again without a restart of a service.
/// `make soak-failover` kills it ten times.
@Suite(.serialized, .enabled(if: PatroniCluster.isInstalled)) struct FailoverTests {
  private static let settings = ProcessInfo.processInfo.environment
  private static let killCount = settings["KITH_FAILOVERS"].flatMap { Int($0) } ?? 3
  private static let callerCount = 8

  @Test func nothingAcknowledgedIsLostWhenThePrimaryDies() async throws {
    try await withPatroniCluster { cluster in
      let folder = FileManager.default.temporaryDirectory.appending(path: "kith-failover-\(UUID())")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      // `try?`: a leftover folder does no harm.
      defer { try? FileManager.default.removeItem(at: folder) }
      let database = TestDatabase(engine: .postgres, folder: folder, databaseURL: cluster.url)
      let processes = try ServiceProcesses(["auth", "credits"], in: database)
      var areRunning = true
      defer { if areRunning { for process in processes.all.values { process.child.signal(SIGKILL) } } }
      let credits = try #require(processes.all["credits"])
      try await processes.ready()
      let users = try await SoakCaller.signUp(20, through: try #require(processes.all["auth"]).gateway)
      let service = credits.gateway.with(["X-Service-Key": TestStack.keys["billing+credits"] ?? ""])
      let log = SoakLog(count: .max)
      let callers = Task {
        await withDiscardingTaskGroup { group in
          for number in 0..<Self.callerCount {
            let random = SeededRandom(seed: UInt64(number))
            group.addTask {
              var caller = SoakCaller(credits: service, users: users, log: log, random: random)
              await caller.run()
            }
          }
        }
      }
      for number in 1...Self.killCount {
        let before = log.answered
        try await eventually("operations before kill \(number)") { log.answered > before + 40 }
        try await cluster.waitUntilReplicated()
        let killedAt = ContinuousClock.now
        try await cluster.killPrimary()
        let promotedAt = ContinuousClock.now
        try await eventually("an answer after kill \(number)") {
          try await service.get("/internal/credits/check?user_id=\(users[0])&cost=1").status == 200
        }
        let answered = log.answered
        try await eventually("operations after kill \(number)") { log.answered > answered }
        print("kill \(number): promoted after \(promotedAt - killedAt), writes again \(.now - promotedAt) later")
        #expect(ContinuousClock.now - promotedAt < .seconds(20))
      }
      log.stop()
      await callers.value
      let posted = try await LedgerComparison(log, database).postingCount()
      print("\(log.answered) answers, \(posted) postings, \(Self.killCount) kills")
      var audit = try await service.get("/internal/credits/audit")
      // Connections that have failed are tried again within a second; until then the answer is a 503.
      try await eventually("an audit after \(audit.text)") {
        if audit.status != 200 { audit = try await service.get("/internal/credits/audit") }
        return audit.status == 200
      }
      #expect(audit.string("status") == "ok", "\(audit.text)")
      for process in processes.all.values { #expect(await process.stop() == 0) }
      areRunning = false
    }
  }
}
