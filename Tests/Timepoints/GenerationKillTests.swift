import Database
import Foundation
import Support
import Synchronization
import Testing
import Wire

/// kill -9 of processes that make scenes, two of them on PostgreSQL, while many scenes are asked for: each one that was
/// accepted is made once and paid once. `KITH_GENERATIONS` and `KITH_GENERATION_KILLS` set how many, and how often.
@Suite(.serialized, .timeLimit(.minutes(30))) struct GenerationKillTests {
  private static let settings = ProcessInfo.processInfo.environment
  private static let jobCount = settings["KITH_GENERATIONS"].flatMap { Int($0) } ?? 24
  private static let killCount = settings["KITH_GENERATION_KILLS"].flatMap { Int($0) } ?? 3
  private static let userCount = 4
  private static let cost = 5
  /// The steps of a scene without a picture that a model is asked for.
  private static let stepCount = 10

  @Test(arguments: engines) func eachSceneIsMadeOnceAndPaidOnce(engine: Engine) async throws {
    try await withTestDatabase(engine) { testDatabase in
      try await withGemini { gemini in
        let replicas = try await TimepointReplicas(
          in: testDatabase, gemini.settings, count: engine == .postgres ? 2 : 1)
        let users = try await replicas.users(Self.userCount, credits: Self.jobCount * Self.cost)
        let killing = Task {
          for _ in 0..<Self.killCount {
            try await Task.sleep(for: .milliseconds(Int.random(in: 300...1500)))
            try await replicas.killOne()
          }
        }
        let ids = try await atOnce(16) { caller in
          try await stride(from: caller, to: Self.jobCount, by: 16).asyncMap { number in
            try await replicas.answered(
              "/api/v1/timepoints/generate", ["query": "Moment \(number)"], by: users[number % Self.userCount],
              key: "job-\(number)"
            ).string("id")
          }
        }.flatMap { $0 }
        try await killing.value
        #expect(Set(ids).count == Self.jobCount)
        try await eventually("the end of all jobs", within: .seconds(600)) {
          let jobs = try await testDatabase.count("generation_job", in: "timepoints")
          let charges = try await testDatabase.count("charge where settled_at is null", in: "timepoints")
          return jobs == 0 && charges == 0
        }
        await replicas.stop()
        try await expectPaid(ids, in: testDatabase)
        // What a killed process had asked for and not stored is asked for again, and nothing else.
        let asked = gemini.calls.all.count
        #expect(asked >= Self.jobCount * Self.stepCount)
        #expect(asked <= Self.jobCount * Self.stepCount + Self.killCount * TimepointReplicas.concurrency * 3)
      }
    }
  }

  private func expectPaid(_ ids: [String], in testDatabase: TestDatabase) async throws {
    let timepoints = try await testDatabase.open("timepoints", [])
    let made = try await timepoints.read { db in
      try db.rows("select id, status from timepoint order by id").map { row in
        (id: try row.get("id", as: String.self), status: try row.get("status", as: String.self))
      }
    }
    await timepoints.close()
    #expect(Set(made.map(\.id)) == Set(ids) && made.count == ids.count)
    #expect(made.allSatisfy { $0.status == "completed" })
    let credits = try await testDatabase.open("credits", [])
    let paid = try await credits.read { db in
      try db.rows(
        """
        select o.reference_id, p.amount from ledger_operation o join ledger_posting p on p.operation_id = o.id
        where o.reference_type = 'timepoint' and p.amount < 0
        """
      ).map { (id: try $0.get("reference_id", as: String.self), amount: try $0.get("amount", as: Int.self)) }
    }
    let held = try await credits.read { db in
      try db.row("select count(*) as total from ledger_account where held <> 0")?.get("total", as: Int.self)
    }
    await credits.close()
    #expect(paid.map(\.id).sorted() == ids.sorted())
    #expect(paid.allSatisfy { $0.amount == -Self.cost })
    #expect(held == 0)
  }
}
