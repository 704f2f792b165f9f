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
  private static let concurrency = 8
  /// The steps of a scene without a picture that a model is asked for.
  private static let stepCount = 10

  @Test(arguments: engines) func eachSceneIsMadeOnceAndPaidOnce(engine: Engine) async throws {
    try await withTestDatabase(engine) { testDatabase in
      try await withGemini { gemini in
        let replicas = try await Replicas(in: testDatabase, gemini.settings, count: engine == .postgres ? 2 : 1)
        let users = try await replicas.users(Self.userCount, credits: Self.jobCount * Self.cost)
        let killing = Task {
          for _ in 0..<Self.killCount {
            try await Task.sleep(for: .milliseconds(Int.random(in: 300...1500)))
            try await replicas.killOne()
          }
        }
        let ids = try await atOnce(16) { caller in
          try await stride(from: caller, to: Self.jobCount, by: 16).asyncMap { number in
            try await replicas.accepted("Moment \(number)", by: users[number % Self.userCount], key: "job-\(number)")
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
        #expect(asked <= Self.jobCount * Self.stepCount + Self.killCount * Self.concurrency * 3)
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

  /// The processes that make scenes, and those that they need.
  private final class Replicas: Sendable {
    private struct Replica {
      let environment: [String: String]
      var process: KithProcess
    }

    private let testDatabase: TestDatabase
    private let others: ServiceProcesses
    private let replicas: Mutex<[Replica]>

    init(in testDatabase: TestDatabase, _ settings: [String: String], count: Int) async throws {
      let settings = settings.merging([
        "GENERATIONS_AT_ONCE": "\(GenerationKillTests.concurrency)", "GENERATIONS_AT_ONCE_PER_USER": "4",
      ]) { $1 }
      let others = try ServiceProcesses(["auth", "credits", "timepoints"], in: testDatabase, settings)
      try await others.ready()
      let first = try #require(others.all["timepoints"])
      var replicas = [Replica(environment: first.environment, process: first)]
      while replicas.count < count {
        let environment = first.environment.merging(["PORT": "\(try freePort())"]) { $1 }
        let process = try KithProcess.launch("kith-timepoints", environment, in: testDatabase)
        try await process.healthy("/health/ready")
        replicas.append(Replica(environment: environment, process: process))
      }
      (self.testDatabase, self.others) = (testDatabase, others)
      self.replicas = Mutex(replicas)
    }

    func users(_ count: Int, credits: Int) async throws -> [SignedInUser] {
      let auth = try #require(others.all["auth"]).gateway
      let ledger = try #require(others.all["credits"]).gateway
      let admin = ["X-Admin-Key": TestStack.adminKey]
      var users: [SignedInUser] = []
      for number in 0..<count {
        let reply = try await auth.with(admin).post("/api/v1/auth/dev/token", ["email": "user\(number)@example.com"])
        let user = try await SignedInUser(reply, through: auth)
        let granted = try await ledger.with(admin)
          .post("/api/v1/credits/admin/grant", ["user_id": user.id.description, "amount": credits])
        guard granted.status == 200 else { throw Unexpected(reply: granted.text) }
        users.append(user)
      }
      return users
    }

    /// Asks for a scene until that is accepted, by any replica. Returns its id.
    func accepted(_ query: String, by user: SignedInUser, key: String) async throws -> String {
      var id = ""
      try await eventually("an answer to \(query)", within: .seconds(300)) {
        guard let replica = replicas.withLock({ $0.randomElement() }) else { return false }
        let app = replica.process.gateway.bearing(user.access).with(["Idempotency-Key": key])
        // `try?`: it was killed.
        let reply = try? await app.post("/api/v1/timepoints/generate", ["query": query])
        guard let reply, reply.status == 200 else { return false }
        id = reply.string("id")
        return true
      }
      return id
    }

    func killOne() async throws {
      let index = Int.random(in: 0..<replicas.withLock { $0.count })
      let replica = replicas.withLock { $0[index] }
      await replica.process.kill()
      let process = try KithProcess.launch("kith-timepoints", replica.environment, in: testDatabase)
      replicas.withLock { $0[index].process = process }
      try await process.healthy("/health/ready")
    }

    func stop() async {
      for replica in replicas.withLock({ $0 }) { _ = await replica.process.stop() }
      for name in ["credits", "auth"] { _ = await others.all[name]?.stop() }
    }
  }
}

extension Sequence where Self: Sendable {
  fileprivate func asyncMap<T>(_ body: (Element) async throws -> T) async rethrows -> [T] {
    var results: [T] = []
    for element in self { results.append(try await body(element)) }
    return results
  }
}
