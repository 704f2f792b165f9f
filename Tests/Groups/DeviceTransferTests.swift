import Database
import Foundation
import Groups
import Support
import Testing
import Web
import Wire

/// Devices that earlier versions of the groups service have registered are the events service's after an upgrade.
@Suite struct DeviceTransferTests {
  private static func token(_ number: Int) -> String { String(repeating: "0", count: 60) + String(1000 + number) }

  /// As the groups service of an earlier version has stored them: two of each user of this test, and more of others
  /// than are handed over at a time.
  private func insertOldDevices(of users: [SignedInUser], in stack: TestStack) async throws {
    let (database, now) = (try await stack.testDatabase.open("groups", []), stack.clock.now)
    let others = (0..<120).map { _ in UserID.new(at: now) }
    try await database.write { db in
      for (number, user) in (users.flatMap { [$0.id, $0.id] } + others).enumerated() {
        try db.change(
          """
          insert into device (id, user_id, token, platform, name, created_at, updated_at)
          values (\(ID<Self>.new(at: now)), \(user), \(Self.token(number)), 'ios', 'An old phone', \(now), \(now))
          """)
      }
    }
    await database.close()
  }

  private func tokens(_ user: SignedInUser) async throws -> Set<String> {
    let devices = try await user.browser.get("/api/devices")["devices"] as? [[String: Any]] ?? []
    return Set(devices.compactMap { $0["device_token"] as? String })
  }

  @Test(arguments: engines) func anUpgradeMovesThemAll(_ engine: Engine) async throws {
    try await withStack(engine, TestStack.eventsURL) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let carol = try await stack.signIn("carol")
      try await insertOldDevices(of: [alice, bob], in: stack)
      // Since the upgrade this one has another owner.
      let taken = ["device_token": Self.token(3), "platform": "ios"]
      #expect(try await carol.browser.post("/api/devices/register", taken).status == 200)
      #expect(try await tokens(alice).isEmpty)
      // The new version of the service, beside the one that runs; two of its replicas start at once.
      let replicas = [
        try await buildGroups(stack.dependencies(of: "groups")),
        try await buildGroups(stack.dependencies(of: "groups")),
      ]
      try await running(replicas) {
        try await eventually("the devices are moved") { try await stack.count("device", in: "groups") == 0 }
      }
      #expect(try await stack.count("device", in: "events") == 124)
      #expect(try await stack.count("device_number", in: "events") == 124)
      #expect(try await tokens(alice) == [Self.token(0), Self.token(1)])
      #expect(try await tokens(bob) == [Self.token(2)])
      #expect(try await tokens(carol) == [Self.token(3)])
      // Both ways of apps to end them.
      let gone = try await alice.browser.delete("/api/devices/unregister?device_token=\(Self.token(0))")
      #expect(gone.bool("success") == true)
      #expect(try await alice.browser.delete("/api/v1/devices/\(Self.token(1))").status == 204)
      #expect(try await tokens(alice).isEmpty)
      // What is kept of a user has them, until it is erased.
      let auth = stack.events.with(stack.with(key: "auth"))
      let path = "/internal/users/\(bob.id)/data"
      let kept = try await auth.get(path)["devices"] as? [[String: Any]] ?? []
      #expect(
        kept.map { $0["token"] as? String } == [Self.token(2)] && kept.first?["name"] as? String == "An old phone")
      #expect(try await auth.send(.DELETE, path).status < 300)
      #expect(try await tokens(bob).isEmpty)
    }
  }
}
