import Clients
import Database
import Foundation
import Support
import Testing
import Web
import Wire

/// All services together, over real sockets, through the gateway.
@Suite struct WholeStackTests {
  @Test(arguments: engines) func aPersonSignsInSpendsAndSignsOut(engine: Engine) async throws {
    try await withStack(engine) { stack in
      // An Apple sign-in and a developer's token are two users.
      let token = try stack.apple.identityToken(at: stack.clock.now)
      let apple = try await stack.gateway.post("/api/v1/auth/apple", ["identity_token": token])
      let alice = try await SignedInUser(apple, through: stack.gateway)
      let bob = try await stack.signIn("bob")
      #expect(alice.id != bob.id)
      for user in [alice, bob] { try await story(of: user, stack) }

      // Sign in again, then sign out.
      let again = try await stack.signIn("bob")
      #expect(again.id == bob.id)
      #expect(try await again.browser.get("/api/v1/credits/balance").int("balance") == 145)
      let logout = try await stack.gateway.post("/api/v1/auth/logout", ["refresh_token": again.refresh])
      #expect(logout.string("detail") == "Logged out")
      #expect(try await again.browser.get("/api/v1/auth/me").status == 401)
    }
  }

  private func story(of user: SignedInUser, _ stack: TestStack) async throws {
    #expect(try await user.browser.get("/api/v1/auth/me").string("id") == user.id.description)
    #expect(try await user.browser.get("/api/v1/credits/balance").int("balance") == 50)
    let granted = try await stack.gateway.with(["X-Admin-Key": TestStack.adminKey])
      .post("/api/v1/credits/admin/grant", ["user_id": user.id.description, "amount": 100])
    #expect(granted.int("balance") == 150)
    let credits = CreditsClient(in: stack.dependencies(of: "invites"))
    let spent = try await credits.spend(.init(userID: user.id, cost: 5, referenceID: "t1", referenceType: "timepoint"))
    #expect(spent.balanceAfter == 145)
    let history = try await user.browser.get("/api/v1/credits/history").list
    #expect(history.map { $0["amount"] as? Int } == [-5, 100, 50])

    let refreshed = try await stack.gateway.post("/api/v1/auth/refresh", ["refresh_token": user.refresh])
    #expect(refreshed.status == 200)
    let browser = stack.gateway.bearing(refreshed.string("access_token"))
    #expect(try await browser.get("/api/v1/auth/me").status == 200)
    #expect(try await stack.gateway.post("/api/v1/auth/refresh", ["refresh_token": user.refresh]).status == 401)
    #expect(try await browser.get("/api/v1/auth/me").status == 401)
    let successor = ["refresh_token": refreshed.string("refresh_token")]
    #expect(try await stack.gateway.post("/api/v1/auth/refresh", successor).status == 401)
  }

  @Test(arguments: engines) func separateProcessesServeTheSameStory(engine: Engine) async throws {
    try await story(ofProcessesOn: engine) { environment, service in
      ["\(service.variablePrefix)_URL": "http://127.0.0.1:\(environment["\(service.variablePrefix)_PORT"] ?? "")"]
    }
  }

  @Test func separateProcessesServeItOverUnixSockets() async throws {
    try await withSocketFolder { folder in
      try await story(ofProcessesOn: .sqlite) { _, _ in
        ["SOCKET_DIR": folder, "EVENTS_URL": "unix:\(folder)/events.sock"]
      }
      // They remove their sockets in the end, also that of the process that was killed.
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
    }
  }

  /// - Parameter address: the variables with which a service is reached.
  private func story(
    ofProcessesOn engine: Engine, address: (_ environment: [String: String], ServiceName) -> [String: String]
  ) async throws {
    try await withTestDatabase(engine) { testDatabase in
      var shared = try KithProcess.environment(testDatabase)
      var ports: [ServiceName: String] = [:]
      for service in ServiceName.bundled {
        ports[service] = shared["\(service.variablePrefix)_PORT"]
        shared.merge(address(shared, service)) { $1 }
      }
      func launch(_ service: ServiceName) throws -> KithProcess {
        let own = ["PORT": ports[service] ?? "", "SERVICE_KEY": TestStack.keys[service.rawValue] ?? ""]
        return try .launch("kith-\(service.rawValue)", shared.merging(own) { $1 }, in: testDatabase)
      }
      let own = ["SERVICE_KEY": TestStack.keys["gateway"] ?? ""]
      let front = try KithProcess.launch("kith-gateway", shared.merging(own) { $1 }, in: testDatabase)
      var services: [ServiceName: KithProcess] = [:]
      for service in ServiceName.bundled { services[service] = try launch(service) }
      try await front.healthy()
      let gateway = front.gateway
      let token = try await gateway.with(["X-Admin-Key": TestStack.adminKey])
        .post("/api/v1/auth/dev/token", ["email": "alice@example.com"])
      let alice = try await SignedInUser(token, through: gateway)
      #expect(try await alice.browser.get("/api/v1/credits/balance").int("balance") == 50)

      // One service is down: its routes answer 502 or 503, the others work.
      await services[.credits]?.kill()
      let down = try await alice.browser.get("/api/v1/credits/balance")
      #expect(down.status == 502 || down.status == 503)
      #expect(try await alice.browser.get("/api/v1/credits/balance").status == 503)
      #expect(try await alice.browser.get("/api/v1/auth/me").status == 200)
      let back = try launch(.credits)
      services[.credits] = back
      try await back.healthy("/health/ready")
      #expect(try await alice.browser.get("/api/v1/credits/balance").int("balance") == 50)
      for process in [front] + services.values { #expect(await process.stop() == 0) }
    }
  }

  @Test(arguments: engines) func eightThatStartTogetherOnAnEmptyDatabaseAllComeUp(engine: Engine) async throws {
    try await withTestDatabase(engine) { testDatabase in
      let shared = try KithProcess.environment(testDatabase)
      let processes = try (0..<8).map { _ in
        let own = ["PORT": String(try freePort()), "DATABASE_CONNECTIONS": "2"]
        return try KithProcess.launch("kith-auth", shared.merging(own) { $1 }, in: testDatabase)
      }
      for process in processes { try await process.healthy("/health/ready") }
      for process in processes { #expect(await process.stop() == 0) }
    }
  }

  @Test func nothingSecretIsEverLogged() async throws {
    try await withTestDatabase(.sqlite) { testDatabase in
      let kith = try await KithProcess.start(in: testDatabase, ["LOG_LEVEL": "trace", "SOCKET_DIR": "without sockets"])
      let email = "someone.very.particular@example.com"
      let admin = kith.gateway.with(["X-Admin-Key": TestStack.adminKey])
      let token = try await admin.post("/api/v1/auth/dev/token", ["email": email, "display_name": "Particular Name"])
      let alice = try await SignedInUser(token, through: kith.gateway)
      _ = try await alice.browser.get("/api/v1/credits/balance?email=\(email)")
      let next = try await kith.gateway.with(["Idempotency-Key": "my-own-key-1"])
        .post("/api/v1/auth/refresh", ["refresh_token": alice.refresh])
      _ = try await kith.gateway.post("/api/v1/auth/refresh", ["refresh_token": alice.refresh])
      _ = try await kith.gateway.post("/api/v1/auth/refresh", ["refresh_token": next.string("refresh_token")])
      _ = try await kith.gateway.with(kith.key("plain")).post(
        "/api/v1/users/resolve", ["external_id": "auth0|secretive"])
      #expect(await kith.stop() == 0)
      let log = kith.child.printed()
      #expect(log.contains(#""route":"/api/v1/auth/refresh""#))
      for line in log.split(separator: "\n") {
        #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(line.utf8)) }
      }
      var secrets = [
        alice.access, alice.refresh, next.string("access_token"), next.string("refresh_token"), email,
        "Particular Name", TestStack.adminKey, "my-own-key-1", "auth0|secretive", "a test secret",
      ]
      secrets += TestStack.keys.values
      for secret in secrets { #expect(!log.contains(secret), "\(secret.prefix(12))") }
    }
  }
}

extension KithProcess {
  fileprivate func key(_ name: String) -> [String: String] { ["X-Service-Key": TestStack.keys[name] ?? ""] }
}
