import Database
import Foundation
import Support
import Testing

/// While auth is down, signed-in users are served by all other services, also where all processes have one service key.
@Suite struct AuthOutageTests {
  @Test(arguments: engines) func whoIsSignedInIsServedWhileAuthIsAway(engine: Engine) async throws {
    try await withTestDatabase(engine) { testDatabase in
      let processes = try started(in: testDatabase)
      try await processes.ready()
      let scenario = try await Scenario(processes)
      await processes.all["auth"]?.kill()
      try await scenario.expectServed()
      let refused = try await scenario.refresh(scenario.alice)
      #expect(refused.status == 503 && refused.headers.first(name: "retry-after") != nil)
      let back = try processes.restart("auth")
      try await back.healthy("/health/ready")
      try await eventually("refresh") { try await scenario.refresh(scenario.alice).status == 200 }
      for (name, process) in processes.all where name != "auth" { #expect(await process.stop() == 0) }
      #expect(await back.stop() == 0)
    }
  }

  @Test func whoIsSignedInIsServedWhileAuthHangs() async throws {
    try await withTestDatabase(.sqlite) { testDatabase in
      let processes = try started(in: testDatabase)
      try await processes.ready()
      let scenario = try await Scenario(processes)
      // The process accepts connections and answers nothing.
      processes.all["auth"]?.child.signal(SIGSTOP)
      try await scenario.expectServed()
      processes.all["auth"]?.child.signal(SIGCONT)
      try await eventually("an answer") { try await scenario.alice.browser.get("/api/v1/auth/me").status == 200 }
      for process in processes.all.values { #expect(await process.stop() == 0) }
    }
  }

  private func started(in testDatabase: TestDatabase) throws -> ServiceProcesses {
    let oneKey = ["SERVICE_KEYS": "", "SERVICE_KEY": "one key for everybody 0123456789 abcdef"]
    return try ServiceProcesses(
      in: testDatabase, ["RATE_LIMIT": "100000", "RATE_LIMIT_USER": "100000"], keys: { _ in oneKey })
  }

  /// Alice and Bob share a list; Carol's name is in no cache; Dan has signed out.
  private struct Scenario {
    let gateway: Browser
    let alice: SignedInUser
    let bob: SignedInUser
    let carol: SignedInUser
    let dan: SignedInUser
    let list: Int
    let group: String
    let collection: String

    init(_ processes: ServiceProcesses) async throws {
      gateway = processes.gateway
      (alice, bob) = (try await Self.signIn("alice", gateway), try await Self.signIn("bob", gateway))
      (carol, dan) = (try await Self.signIn("carol", gateway), try await Self.signIn("dan", gateway))
      #expect(try await gateway.post("/api/v1/auth/logout", ["refresh_token": dan.refresh]).status == 200)
      for user in [alice, bob, carol] {
        #expect(try await user.browser.get("/api/v1/credits/balance").int("balance") == 50)
      }
      let made = try await alice.browser.post("/api/v1/lists", ["list": ["name": "Home"]])
      list = ((made["list"] as? [String: Any])?["id"] as? Int) ?? 0
      let membership = ["membership": ["user_identifier": "bob@example.com", "role": "editor"]]
      #expect(try await alice.browser.post("/api/v1/lists/\(list)/memberships", membership).status == 201)
      group = try await alice.browser.post("/api/groups", ["name": "Family"]).string("id")
      #expect(try await alice.browser.get("/api/groups").status == 200)
      let owned = try await alice.browser.post("/collections", ["name": "Recipes"])
      collection = (owned["data"] as? [String: Any])?["id"] as? String ?? ""
      #expect(try await alice.browser.get("/collections/\(collection)/members").status == 200)
    }

    private static func signIn(_ name: String, _ gateway: Browser) async throws -> SignedInUser {
      let reply = try await gateway.with(["X-Admin-Key": TestStack.adminKey])
        .post("/api/v1/auth/dev/token", ["email": "\(name)@example.com", "display_name": name])
      return try await SignedInUser(reply, through: gateway)
    }

    func refresh(_ user: SignedInUser) async throws -> Browser.Reply {
      try await gateway.post("/api/v1/auth/refresh", ["refresh_token": user.refresh])
    }

    func expectServed() async throws {
      // `try?`: the gateway waits for an answer as long as this client does.
      let away = try? await alice.browser.get("/api/v1/auth/me")
      #expect(away.map { [502, 503, 504].contains($0.status) } ?? true, "the premise: auth is away")
      try await expectReads()
      try await expectWrites()
      try await expectInvites()
      // Sessions that had ended before the outage stay ended.
      #expect(try await dan.browser.get("/api/v1/lists").status == 401)
      #expect(try await gateway.bearing("nonsense").get("/api/v1/lists").status == 401)
    }

    private func expectReads() async throws {
      for path in ["/api/v1/lists", "/api/v1/today", "/api/groups", "/api/v1/credits/balance", "/collections"] {
        for user in [alice, bob, carol] {
          let reply = try await user.browser.get(path)
          #expect(reply.status == 200, "\(path): \(reply.text)")
        }
      }
      for path in [
        "/api/v1/lists/\(list)", "/api/v1/lists/\(list)/tasks", "/api/v1/lists/\(list)/memberships",
        "/api/groups/\(group)", "/api/invites/pending/\(group)", "/api/photos/\(group)/today",
        "/collections/\(collection)/members", "/api/v1/credits/history",
      ] {
        let reply = try await alice.browser.get(path)
        #expect(reply.status == 200, "\(path): \(reply.text)")
      }
      // Cached names are still shown.
      let members = (try await alice.browser.get("/api/v1/lists/\(list)")["list"] as? [String: Any])?["members"]
      #expect("\(members ?? "")".contains("bob"))
      #expect(try await alice.browser.get("/api/groups").text.contains("alice"))
    }

    private func expectWrites() async throws {
      for user in [alice, bob, carol] {
        let made = try await user.browser.post("/api/v1/lists", ["list": ["name": "More"]])
        #expect(made.status == 201, "\(made.text)")
        #expect(try await user.browser.post("/api/groups", ["name": "More"]).status == 200)
      }
      for user in [alice, bob] {
        let task = ["task": ["title": "Milk", "due_at": "2030-01-01T10:00:00Z"]]
        let made = try await user.browser.post("/api/v1/lists/\(list)/tasks", task)
        #expect(made.status == 201, "\(made.text)")
        let id = (made["task"] as? [String: Any])?["id"] as? Int ?? 0
        let done = try await user.browser.post("/api/v1/tasks/\(id)/complete")
        #expect(done.status == 200, "\(done.text)")
      }
    }

    private func expectInvites() async throws {
      let link = try await alice.browser.post("/collections/\(collection)/invites", ["role": "EDITOR"])
      #expect(link.status == 201, "\(link.text)")
      let invite = link["data"] as? [String: Any]
      let token = invite?["token"] as? String ?? ""
      #expect(try await gateway.get("/invites/resolve?token=\(token)").status == 200)
      #expect(try await gateway.get("/invite/\(token)").status == 200)
      let accepted = try await carol.browser.post("/invites/\(invite?["id"] as? String ?? "")/accept")
      #expect(accepted.status == 200, "\(accepted.text)")
    }
  }
}
