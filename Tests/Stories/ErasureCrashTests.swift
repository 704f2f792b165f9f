import Database
import Foundation
import Support
import Testing
import Wire

/// kill -9 while accounts are being erased: every service completes every erasure in the end.
@Suite struct ErasureCrashTests {
  private func name(_ number: Int) -> String { "liddell-\(number)-of-wonderland" }

  /// A user about whom every service stores data.
  private func createUser(_ number: Int, with kith: KithProcess) async throws -> SignedInUser {
    let name = name(number)
    let token = try await kith.gateway.with(["X-Admin-Key": TestStack.adminKey, "User-Agent": "Kith of \(name)"])
      .post("/api/v1/auth/dev/token", ["email": "\(name)@example.com", "display_name": name])
    let user = try await SignedInUser(token, through: kith.gateway)
    #expect(try await user.browser.get("/api/v1/credits/balance").int("balance") == 50)
    #expect(try await user.browser.post("/api/v1/lists", ["list": ["name": "List of \(name)"]]).status == 201)
    let device = String(format: "%064d", 770_000 + number)
    let registered = try await user.browser.post(
      "/api/devices/register", ["device_token": device, "platform": "ios"])
    #expect(registered.status == 200, "\(registered.text)")
    let made = try await user.browser.post("/collections", ["name": "Marbles"])
    let collection = (made["data"] as? [String: Any])?["id"] as? String ?? ""
    let link = try await user.browser.post("/collections/\(collection)/invites", ["role": "VIEW_ONLY"])
    #expect(link.status == 201)
    return user
  }

  private func unfinished(in testDatabase: TestDatabase) async throws -> Int {
    try await testDatabase.count("erasure where finished_at is null", in: "auth")
  }

  /// Makes the leases of the killed process expire.
  private func release(in testDatabase: TestDatabase) async throws {
    let (database, now) = (try await testDatabase.open("auth", []), Date())
    try await database.write { db in try db.change("update erasure set due_at = \(now) where due_at is not null") }
    await database.close()
  }

  private func residualData(_ secrets: [String], in testDatabase: TestDatabase) async throws -> [String] {
    let rows = testDatabase.engine == .postgres ? try await ResidualData.inRows(secrets, of: testDatabase) : []
    return try rows + ResidualData.inFiles(secrets, of: testDatabase)
  }

  @Test(arguments: engines) func everythingIsForgottenHoweverOftenTheProcessDied(engine: Engine) async throws {
    try await withTestDatabase(engine) { testDatabase in
      let environment = try KithProcess.environment(testDatabase).merging([
        "RATE_LIMIT": "100000", "RATE_LIMIT_USER": "100000", "RATE_LIMIT_SIGN_IN": "100000",
        "ACCOUNT_ERASE_AFTER_DAYS": "0",
      ]) { $1 }
      var kith = try await KithProcess.start(in: testDatabase, environment)
      var (interrupted, secrets) = (0, [String]())
      for round in 0..<6 {
        var users: [SignedInUser] = []
        for number in round * 3..<round * 3 + 3 {
          users.append(try await createUser(number, with: kith))
          secrets += [name(number), String(format: "%064d", 770_000 + number)]
        }
        let crowd = users
        #expect(try await residualData(secrets.suffix(6), in: testDatabase).count >= 6)
        let statuses = try await atOnce(crowd.count) {
          try await crowd[$0].browser.delete("/api/v1/auth/account").status
        }
        #expect(statuses.allSatisfy { $0 == 200 })
        try await Task.sleep(for: .milliseconds(Int.random(in: 0...30)))
        await kith.kill()
        if try await unfinished(in: testDatabase) > 0 { interrupted += 1 }
        // Killed once more while it completes the erasures.
        try await release(in: testDatabase)
        kith = try await KithProcess.start(in: testDatabase, environment)
        await kith.kill()
        try await release(in: testDatabase)
        kith = try await KithProcess.start(in: testDatabase, environment)
        try await eventually("the end of the erasures") { try await unfinished(in: testDatabase) == 0 }
      }
      #expect(interrupted > 0)
      #expect(await kith.stop() == 0)
      #expect(try await residualData(secrets, in: testDatabase) == [])
    }
  }
}
