import Database
import Foundation
import Support
import Synchronization
import Testing

/// kill -9 while requests with idempotency keys run: the stored response and the effect are both there, or neither is.
@Suite struct IdempotencyCrashTests {
  /// Every key that was sent, and the body of its response, if there was one.
  private final class Grants: Sendable {
    private let state = Mutex<[String: Data?]>([:])

    func sent(_ key: String) { state.withLock { $0[key] = .some(nil) } }
    func answered(_ key: String, _ body: Data) { state.withLock { $0[key] = .some(body) } }
    var answers: [String: Data?] { state.withLock { $0 } }
  }

  private func grant(_ kith: KithProcess, _ user: String, _ key: String) async throws -> Browser.Reply {
    try await kith.credits.with(["X-Admin-Key": TestStack.adminKey, "Idempotency-Key": key])
      .post("/api/v1/credits/admin/grant", ["user_id": user, "amount": 1, "description": key])
  }

  /// Runs four callers until the process is killed.
  private func grantUntilKilled(_ kith: KithProcess, _ user: String, _ grants: Grants, _ round: Int) async throws {
    await withTaskGroup(of: Void.self) { group in
      for caller in 0..<4 {
        group.addTask {
          for number in 0..<100_000 {
            let key = "\(round)-\(caller)-\(number)"
            grants.sent(key)
            do {
              let reply = try await grant(kith, user, key)
              if reply.status == 200 { grants.answered(key, reply.body) }
            } catch { return }
          }
        }
      }
      // `try?`: nothing cancels this task.
      try? await Task.sleep(for: .milliseconds(Int.random(in: 60...250)))
      await kith.kill()
    }
  }

  @Test(arguments: engines) func aRetryAfterAnyKillGrantsOnce(engine: Engine) async throws {
    try await withTestDatabase(engine) { testDatabase in
      let environment = try KithProcess.environment(testDatabase)
      var kith = try await KithProcess.start(in: testDatabase, environment)
      let token = try await kith.gateway.with(["X-Admin-Key": TestStack.adminKey])
        .post("/api/v1/auth/dev/token", ["email": "alice@example.com"])
      let alice = try await SignedInUser(token, through: kith.gateway).id.description
      let grants = Grants()
      for round in 0..<10 {
        try await grantUntilKilled(kith, alice, grants, round)
        kith = try await KithProcess.start(in: testDatabase, environment)
      }

      let database = try await testDatabase.open("credits", [])
      func count(_ sql: SQL) async throws -> Int {
        try await database.read { try $0.row(sql)?.get("total", as: Int.self) ?? -1 }
      }
      let effects: SQL = "select count(*) as total from ledger_operation where type = 'admin_grant'"
      let records: SQL = "select count(*) as total from idempotency_key where state = 'done'"
      #expect(try await count(effects) == count(records))
      #expect(try await count("select count(*) as total from idempotency_key where state = 'claimed'") == 0)
      let answers = grants.answers
      #expect(answers.values.contains { $0 == nil } && answers.values.contains { $0 != nil })
      for (key, body) in answers {
        let reply = try await grant(kith, alice, key)
        #expect(reply.status == 200)
        if let body { #expect(reply.body == body && reply.headers.contains(name: "idempotency-hit")) }
      }
      #expect(try await count(effects) == answers.count)
      #expect(try await count(records) == answers.count)
      #expect(
        try await count("select count(distinct description) as total from ledger_operation where type = 'admin_grant'")
          == answers.count)
      await database.close()
      #expect(await kith.stop() == 0)
    }
  }
}
