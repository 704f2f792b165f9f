import Database
import Foundation
import Support
import Testing

/// Starts and stops of the processes, as an operator sees them.
@Suite struct StartTests {
  /// The line that a failing start prints; its exit code must be 1.
  private func refusal(
    of name: String, in testDatabase: TestDatabase, _ overrides: [String: String], without missing: String? = nil
  ) async throws -> String {
    var environment = try KithProcess.environment(testDatabase).merging(overrides) { $1 }
    if let missing { environment[missing] = nil }
    let process = try KithProcess.launch(name, environment, in: testDatabase)
    let code = await process.child.end()
    #expect(code == 1)
    let lines = process.child.printed().split(separator: "\n").filter { !$0.hasPrefix("{") }
    #expect(lines.count == 1)
    return lines.joined()
  }

  /// As in a container that has dropped all capabilities: nothing may need any, such as an option of a socket.
  @Test(.enabled(if: geteuid() == 0, "ONLY ROOT HAS CAPABILITIES TO DROP"))
  func theStackRunsWithoutPrivileges() async throws {
    try await withTestDatabase(.sqlite) { testDatabase in
      let environment = try KithProcess.environment(testDatabase)
      let kith = try KithProcess.launch(
        "kith", environment, in: testDatabase, wrapper: ["setpriv", "--bounding-set=-all", "--inh-caps=-all"])
      try await kith.healthy()
      let token = try await kith.gateway.with(["X-Admin-Key": TestStack.adminKey])
        .post("/api/v1/auth/dev/token", ["email": "alice@example.com"])
      let alice = try await SignedInUser(token, through: kith.gateway)
      #expect(try await alice.browser.get("/api/v1/credits/balance").int("balance") == 50)
      let code = await kith.stop()
      #expect(code == 0)
    }
  }

  @Test func aPortInUseIsNamed() async throws {
    try await withTestDatabase(.sqlite) { testDatabase in
      let kith = try await KithProcess.start(in: testDatabase)
      // Repeated, because it depends on timing which server is still starting when one fails.
      for _ in 0..<5 {
        for name in ["PORT", "AUTH_PORT", "GROUPS_PORT", "LISTS_PORT", "CREDITS_PORT"] {
          let port = kith.environment[name] ?? ""
          let line = try await refusal(of: "kith", in: testDatabase, [name: port])
          #expect(line == "kith: port \(port) is in use by another program")
        }
      }
      #expect(await kith.stop() == 0)
    }
  }

  @Test func aBrokenDatabaseFileIsNamed() async throws {
    try await withTestDatabase(.sqlite) { testDatabase in
      let path = testDatabase.folder.appendingPathComponent("credits.db").path
      try Data(repeating: 0x41, count: 8192).write(to: URL(fileURLWithPath: path))
      let line = try await refusal(of: "kith", in: testDatabase, [:])
      #expect(line == "kith: \(path): is not a SQLite database")
    }
  }

  @Test func aDatabaseThatDoesNotAnswerIsNamed() async throws {
    try await withTestDatabase(.sqlite) { testDatabase in
      let url = "postgresql://kith@127.0.0.1:\(try freePort())/kith"
      let line = try await refusal(of: "kith-credits", in: testDatabase, ["DATABASE_URL": url, "SERVICE_KEY": "x"])
      #expect(line.hasPrefix("kith-credits: PostgreSQL does not answer: "))
    }
  }

  @Test(arguments: [
    ("JWT_SECRET_KEY", "change-me"), ("JWT_SECRET_KEY", "short"), ("JWT_SECRET_KEY", ""),
    ("ADMIN_API_KEY", "admin"), ("SERVICE_KEYS", "gateway:short"), ("DATA_KEYS", "data:short"), ("DATA_KEYS", ""),
    ("JWT_SECRET_KEY", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
  ])
  func productionRefusesWeakSecretsByName(name: String, value: String) async throws {
    try await withTestDatabase(.sqlite) { testDatabase in
      let line = try await refusal(of: "kith", in: testDatabase, ["ENVIRONMENT": "production", name: value])
      #expect(line.contains(name))
      if value.count > 6 { #expect(!line.contains(value)) }
    }
  }

  @Test func productionMakesNothingUp() async throws {
    try await withTestDatabase(.sqlite) { testDatabase in
      let line = try await refusal(
        of: "kith", in: testDatabase, ["ENVIRONMENT": "production"], without: "JWT_SECRET_KEY")
      #expect(line.contains("JWT_SECRET_KEY"))
      #expect(!FileManager.default.fileExists(atPath: testDatabase.folder.appendingPathComponent("secrets.env").path))
    }
  }

  @Test func aSeparateProcessMakesNothingUp() async throws {
    try await withTestDatabase(.sqlite) { testDatabase in
      let auth = try await refusal(of: "kith-auth", in: testDatabase, [:], without: "JWT_SECRET_KEY")
      #expect(auth.contains("JWT_SECRET_KEY"))
      let gateway = try await refusal(of: "kith-gateway", in: testDatabase, [:])
      #expect(gateway.contains("SERVICE_KEY"))
    }
  }

  @Test(arguments: [
    "auth", "credits", "lists", "groups", "invites", "events", "adventures", "timepoints", "gateway",
  ])
  func productionStartsNoProcessWithoutKeysBetweenServices(service: String) async throws {
    try await withTestDatabase(.sqlite) { testDatabase in
      let production = ["ENVIRONMENT": "production"]
      let none = try await refusal(of: "kith-\(service)", in: testDatabase, production, without: "SERVICE_KEYS")
      #expect(none == "kith-\(service): SERVICE_KEYS is not set; `make env` writes a .env")
      // The service's own key is required, and must be strong, too.
      let own = try await refusal(of: "kith-\(service)", in: testDatabase, production)
      #expect(own == "kith-\(service): SERVICE_KEY is not set; `make env` writes a .env")
      let weak = production.merging(["SERVICE_KEY": "weak key"]) { $1 }
      #expect(
        try await refusal(of: "kith-\(service)", in: testDatabase, weak)
          == "kith-\(service): SERVICE_KEY is shorter than 32 bytes")
    }
  }

  @Test func developmentMakesUpWhatIsMissingAndKeepsIt() async throws {
    try await withTestDatabase(.sqlite) { testDatabase in
      var environment = try KithProcess.environment(testDatabase)
      for name in ["JWT_SECRET_KEY", "ADMIN_API_KEY", "SERVICE_KEYS"] { environment[name] = nil }
      let first = try KithProcess.launch("kith", environment, in: testDatabase)
      try await first.healthy()
      let secrets = testDatabase.folder.appendingPathComponent("secrets.env")
      let made = try String(contentsOf: secrets, encoding: .utf8)
      let attributes = try FileManager.default.attributesOfItem(atPath: secrets.path)
      #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
      let line = try #require(made.split(separator: "\n").first { $0.hasPrefix("ADMIN_API_KEY=") })
      let adminKey = String(line.dropFirst("ADMIN_API_KEY=".count))
      #expect(first.child.printed().contains(adminKey))
      let admin = first.gateway.with(["X-Admin-Key": adminKey])
      let token = try await admin.post("/api/v1/auth/dev/token", ["email": "alice@example.com"])
      #expect(token.status == 200)
      #expect(await first.stop() == 0)
      // Tokens stay valid across a restart; an empty admin key stays empty.
      let second = try KithProcess.launch("kith", environment.merging(["ADMIN_API_KEY": ""]) { $1 }, in: testDatabase)
      try await second.healthy()
      let me = try await second.gateway.bearing(token.string("access_token")).get("/api/v1/auth/me")
      #expect(me.status == 200)
      let refused = try await second.gateway.with(["X-Admin-Key": adminKey])
        .post("/api/v1/auth/dev/token", ["email": "alice@example.com"])
      #expect(refused.status == 403)
      #expect(await second.stop() == 0)
      #expect(try String(contentsOf: secrets, encoding: .utf8) == made)
    }
  }

  @Test func secretsOfAnOlderVersionAreCompleted() async throws {
    try await withTestDatabase(.sqlite) { testDatabase in
      var environment = try KithProcess.environment(testDatabase)
      environment["SERVICE_KEYS"] = nil
      let secrets = testDatabase.folder.appendingPathComponent("secrets.env")
      let old = "SERVICE_KEYS=gateway:\(UUID()),auth:\(UUID()),credits:\(UUID())\n"
      try Data(old.utf8).write(to: secrets)
      for _ in 0..<2 {
        let kith = try KithProcess.launch("kith", environment, in: testDatabase)
        try await kith.healthy()
        #expect(await kith.stop() == 0)
      }
      let made = try String(contentsOf: secrets, encoding: .utf8)
      #expect(made.hasPrefix(old))
      #expect(made.split(separator: "groups:").count == 2)
    }
  }

  @Test func aStopInTheMiddleOfAStartIsOrderly() async throws {
    try await withTestDatabase(.sqlite) { testDatabase in
      let environment = try KithProcess.environment(testDatabase).merging(["SERVICE_KEY": "x"]) { $1 }
      for milliseconds in stride(from: 5, to: 300, by: 12) {
        let auth = try KithProcess.launch("kith-auth", environment, in: testDatabase)
        try await Task.sleep(for: .milliseconds(milliseconds))
        let code = await auth.stop()
        // 143: the signal came before the program had installed its handler.
        #expect(code == 0 || code == 143, "\(milliseconds) ms: \(auth.child.printed())")
      }
    }
  }

  @Test func whatIsUnderWayEndsBeforeTheProcessDoes() async throws {
    try await withTestDatabase(.sqlite) { testDatabase in
      let kith = try await KithProcess.start(in: testDatabase)
      let admin = kith.gateway.with(["X-Admin-Key": TestStack.adminKey])
      let (answered, answers) = AsyncStream.makeStream(of: Int.self)
      let replies = Task {
        try await atOnce(40) { index in
          do {
            let reply = try await admin.post("/api/v1/auth/dev/token", ["email": "user\(index)@example.com"])
            answers.yield(reply.status)
            return reply.status
          } catch {
            // The connection was refused, so the request never started.
            return 0
          }
        }
      }
      // With the first answer, while most of the others are awaited.
      _ = await answered.first { _ in true }
      #expect(await kith.stop() == 0)
      let statuses = try await replies.value
      #expect(statuses.allSatisfy { $0 == 200 || $0 == 0 }, "\(statuses)")
      #expect(statuses.contains(200))
    }
  }
}
