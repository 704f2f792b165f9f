import Database
import Foundation
import Support
import Testing
import Web
import Wire

/// All services behind PgBouncer in transaction mode, where each transaction may have another session of the server.
@Suite(.enabled(if: engines.contains(.postgres) && PgBouncer.isInstalled)) struct PgBouncerStoryTests {
  @Test func everyServiceIsServedByTwoSessions() async throws {
    try await withPostgresServer { server in
      try await withPgBouncer(before: server.url) { pooler in
        let urls = ["DATABASE_URL": pooler.url, "DIRECT_DATABASE_URL": server.url]
        try await withStack(.sqlite, TestStack.eventsURL.merging(urls) { $1 }) { stack in
          let scenario = try await StackScenario(stack)
          for service in ServiceName.allCases { try await scenario.expectServed(service, "through PgBouncer") }
          try await expectJoins(scenario)
          try await expectTasks(scenario)
          try await expectCredits(scenario)
          try await expectSessions(stack, server)
        }
      }
    }
  }

  /// An invite is claimed in one database and joined in another.
  private func expectJoins(_ scenario: StackScenario) async throws {
    let tasks = "/api/v1/lists/\(scenario.lists.own)/tasks"
    #expect(try await scenario.carol.browser.get(tasks).status == 404)
    #expect(try await scenario.carolJoinsTheList().status == 200)
    #expect(try await scenario.carol.browser.get(tasks).status == 200)
    #expect(try await scenario.carolJoinsTheCollection().status == 200)
  }

  private func expectTasks(_ scenario: StackScenario) async throws {
    let tasks = "/api/v1/lists/\(scenario.lists.shared)/tasks"
    let users = [scenario.alice, scenario.bob]
    let statuses = try await atOnce(40) { number in
      try await users[number % 2].browser.post(tasks, ["task": ["title": "Task \(number)"]]).status
    }
    #expect(statuses.allSatisfy { $0 == 201 })
    let shown = try await scenario.bob.browser.get("/api/v1/lists/\(scenario.lists.shared)")
    #expect((shown["list"] as? [String: Any])?["tasks_count"] as? Int == 41)
  }

  private func expectCredits(_ scenario: StackScenario) async throws {
    let (alice, id) = (scenario.alice.browser, scenario.alice.id.description)
    let admin = scenario.stack.gateway.with(["X-Admin-Key": TestStack.adminKey, "Idempotency-Key": "once"])
    let statuses = try await atOnce(10) { _ in
      try await admin.post("/api/v1/credits/admin/grant", ["user_id": id, "amount": 100]).status
    }
    #expect(statuses.contains(200))
    #expect(try await scenario.makeScene().status == 200)
    #expect(try await alice.get("/api/v1/credits/balance").int("balance") == 145)
    let history = try await alice.get("/api/v1/credits/history").list
    #expect(history.map { $0["amount"] as? Int } == [-5, 100, 50])
    #expect(try await alice.get("/api/v1/users/me/timepoints").int("total") == 1)
  }

  /// Two of PgBouncer's, and those by which auth, events and timepoints are notified.
  private func expectSessions(_ stack: TestStack, _ server: PostgresServer) async throws {
    let direct = stack.dependencies.settings.overlaid(["DATABASE_URL": server.url, "DATABASE_CONNECTIONS": "1"])
    let database = try await Dependencies(direct, logger: quiet).openDatabase(ServiceSchema("auth", []))
    // The server ends a session, such as that of migrations, some time after its client has closed it.
    var found: [String] = []
    try await eventually("five sessions; there are \(found)") {
      found = try await database.read { db in
        try db.rows(
          """
          select case when query like 'listen %' then 'listens' else 'works' end as kind from pg_stat_activity
          where backend_type = 'client backend' and pid <> pg_backend_pid() order by kind
          """
        ).map { try $0.get("kind") }
      }
      return found == ["listens", "listens", "listens", "works", "works"]
    }
    await database.close()
  }
}
