import Database
import Foundation
import Support
import Testing
import Web

/// The commands of the programs, as a deployment runs them.
@Suite struct CommandTests {
  /// Runs a program to its end: its exit code, and what it printed.
  private func run(
    _ name: String, _ arguments: [String], _ environment: [String: String], in testDatabase: TestDatabase
  ) async throws -> (code: Int32, output: String) {
    let process = try KithProcess.launch(name, environment, in: testDatabase, arguments: arguments)
    let code = await process.child.end()
    return (code, process.child.printed())
  }

  @Test func theHealthCheckTellsWhetherTheProgramIsReady() async throws {
    try await withTestDatabase(.sqlite) { testDatabase in
      let kith = try await KithProcess.start(in: testDatabase)
      try await kith.healthy("/health/ready")
      for (name, port) in [("kith", "PORT"), ("kith-credits", "CREDITS_PORT")] {
        let environment = ["PORT": kith.environment[port] ?? "", "HOST": "0.0.0.0"]
        let ready = try await run(name, ["healthcheck"], environment, in: testDatabase)
        #expect(ready.code == 0)
        #expect(ready.output.isEmpty)
      }
      let code = await kith.stop()
      #expect(code == 0)
      let gone = try await run("kith", ["healthcheck"], kith.environment, in: testDatabase)
      #expect(gone.code == 1)
      #expect(gone.output.hasPrefix("kith: http://127.0.0.1:\(kith.environment["PORT"] ?? "")/health/ready did not"))
    }
  }

  @Test func waitEndsOnceTheOtherProgramsAreReady() async throws {
    try await withTestDatabase(.sqlite) { testDatabase in
      let environment = try KithProcess.environment(testDatabase)
      let urls = ["PORT", "CREDITS_PORT"].map { "http://127.0.0.1:\(environment[$0] ?? "")" }
      let waiting = try KithProcess.launch("kith-gateway", [:], in: testDatabase, arguments: ["wait"] + urls)
      let kith = try KithProcess.launch("kith", environment, in: testDatabase)
      let ended = await waiting.child.end()
      #expect(ended == 0)
      #expect(waiting.child.printed().isEmpty)
      for url in urls { #expect(try await Browser(url).get("/health/ready").status == 200) }
      let code = await kith.stop()
      #expect(code == 0)
    }
  }

  @Test func waitWithoutURLsIsRefused() async throws {
    try await withTestDatabase(.sqlite) { testDatabase in
      let empty = try await run("kith-gateway", ["wait"], [:], in: testDatabase)
      #expect(empty.code == 1)
      #expect(empty.output == "kith-gateway: usage: wait URL...\n")
      let wrong = try await run("kith-gateway", ["wait", "http://auth:8080", "lists"], [:], in: testDatabase)
      #expect(wrong.code == 1)
      #expect(wrong.output == "kith-gateway: lists is not http://host:port, https://host:port or unix:/path\n")
    }
  }

  @Test func unknownArgumentsAreRefused() async throws {
    try await withTestDatabase(.sqlite) { testDatabase in
      for arguments in [["migrat"], ["--migrate", "now"], [""]] {
        let refused = try await run("kith-credits", arguments, [:], in: testDatabase)
        #expect(refused.code == 1)
        #expect(refused.output.hasPrefix("kith-credits: unknown arguments: \(arguments.joined(separator: " "))"))
      }
      let help = try await run("kith-credits", ["--help"], [:], in: testDatabase)
      #expect(help.code == 0)
      #expect(help.output.hasPrefix("usage: kith-credits [command]\n"))
      #expect(help.output.contains("\n  wait URL..."))
      let version = try await run("kith-gateway", ["version"], [:], in: testDatabase)
      #expect(version.output == "kith-gateway \(Kith.version)\n")
    }
  }

  @Test(arguments: engines) func migrateCreatesTheTablesAndEnds(engine: Engine) async throws {
    try await withTestDatabase(engine) { testDatabase in
      for _ in 0..<2 {
        let migrated = try await run("kith", ["migrate"], testDatabase.settings, in: testDatabase)
        #expect(migrated.code == 0)
      }
      let (ledger, people) = (
        try await testDatabase.count("ledger_account", in: "credits"),
        try await testDatabase.count("account", in: "auth")
      )
      #expect(ledger == 2)
      #expect(people == 0)
    }
  }

  /// The owner of the tables runs the migrations; the service's role cannot create, change or drop tables, and cannot
  /// change the ledger.
  @Test(.enabled(if: postgresURL != nil)) func aServiceRunsUnderARoleThatOnlyUsesItsTables() async throws {
    try await withTestDatabase(.postgres) { testDatabase in
      let role = "kith_test_role_\(UInt32.random(in: 0...UInt32.max))"
      try await executeSQL(testDatabase.databaseURL, "create role \(role) login")
      try await check(role, in: testDatabase)
      try await executeSQL(testDatabase.databaseURL, "drop owned by \(role)")
      try await executeSQL(testDatabase.databaseURL, "drop role \(role)")
    }
  }

  private func check(_ role: String, in testDatabase: TestDatabase) async throws {
    var address = try #require(URLComponents(string: testDatabase.databaseURL))
    address.user = role
    let roleURL = try #require(address.string)
    let database = String(address.path.dropFirst())
    try await executeSQL(
      testDatabase.databaseURL, "revoke connect, create, temporary on database \(database) from public")
    try await executeSQL(testDatabase.databaseURL, "grant connect on database \(database) to \(role)")
    var environment = try KithProcess.environment(testDatabase).merging([
      "DATABASE_URL": roleURL, "SERVICE_KEY": TestStack.keys["credits"] ?? "",
      "AUTH_URL": "http://127.0.0.1:\(try freePort())",
    ]) { $1 }
    environment["PORT"] = environment["CREDITS_PORT"]

    let early = try await run("kith-credits", ["serve"], environment, in: testDatabase)
    #expect(early.code == 1)
    #expect(early.output.contains("run `kith-credits migrate`"))

    let owner = environment.merging(["MIGRATION_DATABASE_URL": testDatabase.databaseURL]) { $1 }
    let migrated = try await run("kith-credits", ["migrate"], owner, in: testDatabase)
    #expect(migrated.code == 0)
    let credits = try KithProcess.launch("kith-credits", environment, in: testDatabase)
    try await credits.healthy("/health/live")

    // What a service needs is allowed, beside each refusal.
    try await executeSQL(roleURL, "update credits.ledger_account set balance = balance where kind = 'user'")
    try await executeSQL(roleURL, "select count(*) from credits.ledger_posting")
    for statement in [
      "update credits.ledger_posting set amount = 1", "delete from credits.ledger_posting",
      "delete from credits.ledger_operation", "truncate credits.ledger_posting", "drop table credits.ledger_posting",
      "alter table credits.ledger_posting disable trigger all", "create table credits.mine (x int)",
      "create schema mine", "delete from credits.migration",
    ] {
      await #expect(throws: Unexpected.self) { try await executeSQL(roleURL, statement) }
    }
    let code = await credits.stop()
    #expect(code == 0)
  }
}
