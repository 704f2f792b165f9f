import Database
import Foundation
import Support
import Testing
import Wire

/// `kith backup` and `kith restore`, as an operator runs them.
@Suite struct BackupTests {
  private func run(
    _ arguments: [String], _ environment: [String: String], in testDatabase: TestDatabase
  ) async throws -> (code: Int32, output: String) {
    let process = try KithProcess.launch("kith", environment, in: testDatabase, arguments: arguments)
    let code = await process.child.end()
    return (code, process.child.printed())
  }

  private func signIn(_ name: String, to kith: KithProcess) async throws -> SignedInUser {
    let reply = try await kith.gateway.with(["X-Admin-Key": TestStack.adminKey])
      .post("/api/v1/auth/dev/token", ["email": "\(name)@example.com", "display_name": name])
    return try await SignedInUser(reply, through: kith.gateway)
  }

  private static let unlimited = [
    "RATE_LIMIT": "1000000", "RATE_LIMIT_USER": "1000000", "RATE_LIMIT_UPLOAD": "1000000",
    "RATE_LIMIT_SIGN_IN": "1000000",
  ]

  /// Each user makes a list, then gets a credit, then makes a list: at any moment they have as many lists as credits, or
  /// one more. A backup whose databases are of different moments would have others.
  private func makeChanges(_ users: [SignedInUser], at kith: KithProcess) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for user in users {
        group.addTask {
          for number in 0... {
            guard !Task.isCancelled else { return }
            let made = try await user.browser.post("/api/v1/lists", ["list": ["name": "List \(number)"]])
            let granted = try await kith.gateway.with(["X-Admin-Key": TestStack.adminKey])
              .post("/api/v1/credits/admin/grant", ["user_id": user.id.description, "amount": 1])
            guard made.status == 201, granted.status == 200 else { throw Unexpected(reply: made.text + granted.text) }
          }
        }
      }
      try await group.waitForAll()
    }
  }

  @Test func aBackupUnderLoadIsOfOneMoment() async throws {
    try await withTestDatabase(.sqlite) { testDatabase in
      var kith = try await KithProcess.start(in: testDatabase, Self.unlimited)
      let users = try await atOnce(8) { [kith] in try await signIn("user\($0)", to: kith) }
      for user in users { _ = try await user.browser.get("/api/v1/credits/balance") }
      let group = try await users[0].browser.post("/api/groups", ["name": "Family"])
      let groupID = try #require(GroupID(group.string("id")), "\(group.text)")
      #expect(try await users[0].send(SamplePhotos.jpeg, to: groupID).status == 200)
      let before = try await answers(to: users[0], groupID)

      let load = Task { [kith] in try await makeChanges(users, at: kith) }
      var backups: [String] = []
      for number in 0..<3 {
        try await Task.sleep(for: .milliseconds(500))
        let file = testDatabase.folder.appending(path: "backup\(number).tar").path
        let made = try await run(["backup", file], kith.environment, in: testDatabase)
        #expect(made.code == 0, "\(made.output)")
        backups.append(file)
      }
      load.cancel()
      // A request that was cut off by the cancellation is an error of its task.
      _ = await load.result
      #expect(await kith.stop() == 0)

      var epochs: Set = [try await epoch(in: testDatabase.folder.path)]
      for (number, file) in (backups + [backups[0]]).enumerated() {
        let folder = testDatabase.folder.appending(path: "restored\(number)").path
        let settings = ["DATA_DIR": folder, "DATABASE_URL": "\(folder)/"]
        let restored = try await run(["restore", file], settings, in: testDatabase)
        #expect(restored.code == 0, "\(restored.output)")
        epochs.insert(try await epoch(in: folder))
        kith = try await KithProcess.start(in: testDatabase, Self.unlimited.merging(settings) { $1 })
        let restoredUsers = users.map { user in user.through(kith.gateway) }
        #expect(try await answers(to: restoredUsers[0], groupID) == before)
        for user in restoredUsers {
          let credits = try #require(try await user.browser.get("/api/v1/credits/balance").int("balance")) - 50
          let lists = try #require(try await user.browser.get("/api/v1/lists")["lists"] as? [Any]).count
          #expect(lists == credits || lists == credits + 1, "\(lists) lists, \(credits) credits")
          if number == backups.count - 1 { #expect(credits > 0, "the premise") }
        }
        #expect(await kith.stop() == 0)
      }
      #expect(epochs.count == 5, "the log knows each time that it is an older one")
    }
  }

  /// The name of the instance of the log of events.
  private func epoch(in folder: String) async throws -> String {
    let database = try SQLite(path: "\(folder)/events.db", service: "events")
    let epoch = try await database.readOnce { db in
      try db.row("select epoch from feed")?.get("epoch", as: String.self)
    }
    await database.close()
    return try #require(epoch)
  }

  /// What a user sees that the load does not change, and the bytes of a photo.
  private func answers(to user: SignedInUser, _ group: GroupID) async throws -> [Data] {
    let photo = try #require(try await user.today(group).first)
    let url = (photo["photo_url"] ?? photo["url"]) as? String ?? ""
    let path = url.range(of: "/api/").map { String(url[$0.lowerBound...]) } ?? url
    let picture = try await user.browser.get(path)
    #expect(picture.status == 200, "\(photo)")
    return [try await user.browser.get("/api/v1/auth/me").body, picture.body]
  }

  @Test func aBackupIsRefusedWhenItIsNotWhole() async throws {
    try await withTestDatabase(.sqlite) { testDatabase in
      let kith = try await KithProcess.start(in: testDatabase)
      let file = testDatabase.folder.appending(path: "backup.tar")
      #expect(try await run(["backup", file.path], kith.environment, in: testDatabase).code == 0)
      #expect(try await run(["backup", file.path], kith.environment, in: testDatabase).output.contains("exists"))
      #expect(await kith.stop() == 0)

      let folder = testDatabase.folder.appending(path: "restored").path
      let settings = ["DATA_DIR": folder, "DATABASE_URL": "\(folder)/"]
      let whole = try Data(contentsOf: file)
      var flipped = whole
      flipped[flipped.startIndex + 100_000] ^= 1
      for damaged in [whole.prefix(100_000), whole.dropLast(4096), flipped, Data("no archive".utf8), Data()] {
        let path = testDatabase.folder.appending(path: "damaged.tar")
        try damaged.write(to: path)
        let refused = try await run(["restore", path.path], settings, in: testDatabase)
        #expect(refused.code == 1)
        #expect(!FileManager.default.fileExists(atPath: "\(folder)/auth.db"), "nothing is put in place")
      }
      let restored = try await run(["restore", file.path], settings, in: testDatabase)
      #expect(restored.code == 0, "\(restored.output)")
      let again = try await run(["restore", file.path], settings, in: testDatabase)
      #expect(again.code == 1)
      #expect(again.output.contains("where there is no data"))
    }
  }

  /// The format is no secret: other programs read it.
  @Test func tarReadsABackup() async throws {
    try await withTestDatabase(.sqlite) { testDatabase in
      #expect(try await run(["migrate"], testDatabase.settings, in: testDatabase).code == 0)
      let file = testDatabase.folder.appending(path: "backup.tar").path
      #expect(try await run(["backup", file], testDatabase.settings, in: testDatabase).code == 0)
      let output = testDatabase.folder.appending(path: "names").path
      let tar = try ChildProcess(["tar", "-tf", file], output: output)
      #expect(await tar.end() == 0)
      #expect(tar.printed().contains("databases/credits.db\n"))
      #expect(tar.printed().hasSuffix("manifest.json\n"))
    }
  }

  @Test(.enabled(if: postgresURL != nil)) func postgresHasToolsOfItsOwn() async throws {
    try await withTestDatabase(.postgres) { testDatabase in
      let refused = try await run(["backup", "/tmp/kith-never.tar"], testDatabase.settings, in: testDatabase)
      #expect(refused.code == 1)
      #expect(refused.output.contains("pg_dump"))
    }
  }
}
