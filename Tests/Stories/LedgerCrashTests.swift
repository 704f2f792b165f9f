import Database
import Foundation
import Support
import Synchronization
import Testing
import Wire

/// kill -9 while credits are spent: every acknowledged spend is in the ledger, once.
@Suite struct LedgerCrashTests {
  /// Spends of one user, each with a key of its own, and the transaction ids that were acknowledged.
  private final class Spends: Sendable {
    private let state = Mutex((asked: 0, acknowledged: [String: String]()))

    func next() -> String {
      state.withLock { state in
        state.asked += 1
        return "spend-\(state.asked)"
      }
    }

    func acknowledge(_ key: String, _ transaction: String) { state.withLock { $0.acknowledged[key] = transaction } }

    var acknowledged: [String: String] { state.withLock { $0.acknowledged } }
    var asked: Int { state.withLock { $0.asked } }
  }

  private func spend(_ kith: KithProcess, _ user: UserID, _ key: String) async throws -> String? {
    let reply = try await kith.credits.with(["X-Service-Key": TestStack.keys["invites"] ?? ""]).post(
      "/internal/credits/spend",
      ["user_id": user.description, "cost": 1, "reference_id": key, "idempotency_key": key])
    return reply.bool("success") == true ? reply.string("transaction_id") : nil
  }

  /// Runs four callers that spend until the process is killed.
  private func spendUntilKilled(_ kith: KithProcess, _ user: UserID, _ spends: Spends, after delay: Duration)
    async throws
  {
    let before = spends.acknowledged.count
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          while !Task.isCancelled {
            let key = spends.next()
            do {
              if let transaction = try await spend(kith, user, key) { spends.acknowledge(key, transaction) }
            } catch { return }
          }
        }
      }
      // `try?`: nothing cancels this task.
      try? await Task.sleep(for: delay)
      // On a busy machine the first response may take longer.
      for _ in 0..<1000 where spends.acknowledged.count == before {
        // `try?`: as above.
        try? await Task.sleep(for: .milliseconds(10))
      }
      await kith.kill()
      group.cancelAll()
    }
  }

  @Test(arguments: engines) func everyAcknowledgedSpendSurvivesTwentyKills(engine: Engine) async throws {
    try await withTestDatabase(engine) { testDatabase in
      let spends = Spends()
      let environment = try KithProcess.environment(testDatabase)
      var kith = try await KithProcess.start(in: testDatabase, environment)
      let token = try await kith.gateway.with(["X-Admin-Key": TestStack.adminKey])
        .post("/api/v1/auth/dev/token", ["email": "alice@example.com"])
      let alice = try await SignedInUser(token, through: kith.gateway)
      let grant = try await kith.gateway.with(["X-Admin-Key": TestStack.adminKey])
        .post("/api/v1/credits/admin/grant", ["user_id": alice.id.description, "amount": 1_000_000])
      #expect(grant.status == 200)
      for _ in 0..<20 {
        let before = spends.acknowledged.count
        try await spendUntilKilled(kith, alice.id, spends, after: .milliseconds(Int.random(in: 60...250)))
        #expect(spends.acknowledged.count > before)
        kith = try await KithProcess.start(in: testDatabase, environment)
      }
      let acknowledged = spends.acknowledged
      #expect(spends.asked > acknowledged.count)
      // A repeated request with an acknowledged key returns the same transaction.
      for (key, transaction) in acknowledged.prefix(20) { #expect(try await spend(kith, alice.id, key) == transaction) }
      #expect(await kith.stop() == 0)

      let database = try await testDatabase.open("credits", [])
      let rows = try await database.read { db in
        try db.rows(
          """
          select o.id, o.reference_id from ledger_operation o
          join ledger_posting p on p.operation_id = o.id and p.account_id = \(alice.id.description)
          where o.reference_id is not null
          """
        ).map { (id: try $0.get("id", as: String.self), key: try $0.get("reference_id", as: String.self)) }
      }
      let sums = try await database.read { db in
        try db.rows(
          """
          select operation_id from ledger_posting group by operation_id having sum(amount) <> 0 or count(*) <> 2
          """)
      }
      let balance = try await database.read { db in
        try db.row("select balance from ledger_account where id = \(alice.id.description)")?
          .get("balance", as: Int.self)
      }
      await database.close()
      let byKey = Dictionary(grouping: rows, by: \.key)
      #expect(byKey.values.allSatisfy { $0.count == 1 })
      for (key, transaction) in acknowledged { #expect(byKey[key]?.first?.id == transaction) }
      #expect(sums.isEmpty)
      #expect(balance == 1_000_050 - rows.count)
    }
  }
}
