import Database
import Foundation
import Hummingbird
import Support
import Synchronization
import Testing
import Tokens
import Wire

@testable import Web

/// Which headers of its callers a service accepts, and which responses caches may store.
@Suite struct BoundaryTests {
  private static let sharedKey = ["SERVICE_KEY": "one key for everybody 0123456789 abcdef"]

  /// Runs a service with two routes, which resolves users with `findUser`.
  private func withService(
    _ settings: [String: String], ended: EndedSessionList = EndedSessionList(),
    findUser: @escaping @Sendable (String) async throws -> UserID? = { _ in nil },
    _ body: (Browser) async throws -> Void
  ) async throws {
    try await withTestDatabase(.sqlite) { testDatabase in
      let dependencies = Dependencies(
        Settings(testDatabase.settings.merging(["PORT": "0"]) { $1 }.merging(settings) { $1 }), logger: quiet)
      let authenticator = CallerAuthenticator(
        keys: try ServiceKeys(dependencies.settings), verifier: AccessTokenVerifier(KeyRing(.init(signing: nil))),
        ended: ended, now: dependencies.now, findUser: findUser)
      let server = try Server(
        .credits, in: dependencies, database: try await dependencies.openDatabase(ServiceSchema("test", [])),
        authenticator: authenticator, api: OpenAPI(yaml: Array("paths: {}".utf8))
      ) { routes in
        routes.get("/address") { request, _ in request.clientAddress }
        routes.group(context: SignedIn.self).get("/me") { _, context in context.user.description }
      }
      try await running([server]) { try await body(Browser("http://127.0.0.1:\(try await server.port.number)")) }
    }
  }

  @Test func whereARequestComesFromOnlyTheGatewayMaySay() async throws {
    let keys = ["SERVICE_KEYS": "gateway:g,plain:p,sync+act:s"]
    try await withService(keys) { service in
      let forwarded = service.with([
        "X-Forwarded-For": "203.0.113.9", "X-Real-IP": "203.0.113.9", "Forwarded": "for=x",
      ])
      for untrusted in [
        forwarded, forwarded.with(["X-Service-Key": "x"]), forwarded.with(["X-Service-Key": "p"]),
        forwarded.with(["X-Service-Key": "s"]), service,
      ] {
        let address = try await untrusted.get("/address").text
        #expect(address == "127.0.0.1")
      }
      let address = try await forwarded.with(["X-Service-Key": "g"]).get("/address").text
      #expect(address == "203.0.113.9")
    }
    try await withService(Self.sharedKey) { service in
      let forwarded = service.with(["X-Forwarded-For": "203.0.113.9"])
      let address = try await forwarded.get("/address").text
      #expect(address == "127.0.0.1")
      let key = ["X-Service-Key": Self.sharedKey["SERVICE_KEY"] ?? ""]
      #expect(try await forwarded.with(key).get("/address").text == "203.0.113.9")
    }
  }

  @Test func textsAreRationedByTheConnectionWhereAServiceStandsAlone() async throws {
    try await withStack(.sqlite, ["SMS_PER_ADDRESS_HOUR": "2"]) { stack in
      var statuses: [Int] = []
      for number in 0..<3 {
        let forwarded = stack.auth.with(["X-Forwarded-For": "203.0.113.\(number)"])
        let body = ["phone_number": "+4790000\(100 + number)"]
        statuses.append(try await forwarded.post("/api/auth/request-verification", body).status)
      }
      #expect(statuses == [200, 200, 429])
      let gateway = stack.auth.with(stack.with(key: "gateway")).with(["X-Forwarded-For": "203.0.113.9"])
      #expect(try await gateway.post("/api/auth/request-verification", ["phone_number": "+4790000200"]).status == 200)
    }
  }

  @Test func whomTheGatewayNamesIsServedWhileAuthIsAway() async throws {
    let isAway = Flag()
    let (ended, known, stranger) = (EndedSessionList(), UserID.new(at: Date()), UserID.new(at: Date()))
    ended.add([], at: Date())
    try await withService(Self.sharedKey, ended: ended) { name in
      guard !isAway.isRaised else { throw Failure.unavailable }
      return name == known.description || name == "crm-1" ? known : nil
    } _: { service in
      let gateway = service.with(["X-Service-Key": Self.sharedKey["SERVICE_KEY"] ?? ""])
      func named(_ name: String, session: Bool = false) async throws -> String {
        var browser = gateway.with(["X-User-ID": name])
        if session { browser = browser.with(["X-Session-ID": SessionID.new(at: Date()).description]) }
        let reply = try await browser.get("/me")
        return reply.status == 200 ? reply.text : String(reply.status)
      }
      let first = try await named("crm-1")
      #expect(first == known.description)
      #expect(try await named(stranger.description) == "404")
      isAway.raise()
      // The gateway verifies a session's token itself; other users come from its cache.
      #expect(try await named(stranger.description, session: true) == stranger.description)
      #expect(try await named("crm-1") == known.description)
      #expect(try await named("crm-2") == "503")
      #expect(try await named(stranger.description) == "503")
      ended.add(.externalTokens(of: known), until: Date() + 600)
      #expect(try await named("crm-1") == "503", "a deactivated user is not cached")
    }
  }

  /// With the gateway's key a loop route responds where it can, with a token the route does.
  @Test(arguments: engines) func theShortWayRespondsLikeTheLongOne(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      func responses(_ user: SignedInUser, _ service: Browser, _ path: String) async throws -> [[String]] {
        let named = service.with(stack.with(key: "gateway")).with(["X-User-ID": user.id.description])
        var responses: [[String]] = []
        for browser in [named, service.bearing(user.access)] {
          let reply = try await browser.with(["X-Request-ID": "one"]).get(path)
          let fields = reply.headers.filter { $0.name != "date" }.map { "\($0.name): \($0.value)" }
          responses.append([String(reply.status), reply.text] + fields.sorted())
        }
        return responses
      }
      let credits = stack.credits.with(stack.with(key: "billing+credits"))
      for (service, path) in [(stack.auth, "/api/v1/auth/me"), (stack.credits, "/api/v1/credits/balance")] {
        for user in [alice, bob, alice] {
          let both = try await responses(user, service, path)
          #expect(both[0] == both[1] && both[0][0] == "200", "\(path)")
        }
        let spend: [String: any Sendable] = [
          "user_id": alice.id.description, "cost": 7, "idempotency_key": "spent after \(path)",
        ]
        #expect(try await credits.post("/internal/credits/spend", spend).status < 300)
      }
      let balance = try await responses(alice, stack.credits, "/api/v1/credits/balance")
      #expect(balance[0] == balance[1] && balance[0][1].contains("36"), "\(balance[0][1])")
      #expect(try await alice.browser.delete("/api/v1/auth/account").status == 200)
      let gone = try await responses(alice, stack.auth, "/api/v1/auth/me")
      #expect(gone[0][0] == "401" && gone[0][1] == gone[1][1], "\(gone)")
    }
  }

  @Test func tokensAreKeptByNobodyAndWhatIsPersonalOnlyByItsOwner() async throws {
    try await withStack(.sqlite) { stack in
      func caching(_ reply: Browser.Reply) -> [String] { reply.headers["cache-control"] }
      let alice = try await stack.signIn("alice")
      let person: [String: any Sendable] = ["email": "bob@example.com", "password": "correct horse", "name": "Bob"]
      let admin = stack.gateway.with(["X-Admin-Key": TestStack.adminKey])
      for reply in [
        try await admin.post("/api/v1/auth/dev/token", ["email": "carol@example.com"]),
        try await stack.gateway.post("/api/v1/auth/sign_up", ["user": person]),
        try await stack.gateway.post("/api/v1/auth/sign_in", person),
        try await stack.gateway.post("/api/v1/auth/refresh", ["refresh_token": alice.refresh]),
        try await stack.gateway.post("/auth/v1/token?grant_type=password", person),
      ] {
        #expect(reply.status < 300, "\(reply.text)")
        #expect(caching(reply) == ["no-store"], "\(reply.text)")
      }
      let dora = try await stack.signIn("dora")
      #expect(try await caching(dora.browser.get("/auth/v1/user")) == ["no-store"])
      for path in ["/api/v1/auth/me", "/api/v1/credits/balance", "/api/v1/lists", "/api/groups", "/collections"] {
        #expect(try await caching(dora.browser.get(path)) == ["private"], "\(path)")
      }
      let made = try await dora.browser.post("/api/v1/lists", ["list": ["name": "Home"]])
      #expect(caching(made) == ["private"])
      let path = "/api/v1/lists/\((made["list"] as? [String: Any])?["id"] as? Int ?? 0)"
      let list = try await dora.browser.get(path)
      let tag = try #require(list.headers.first(name: "etag"))
      let unchanged = try await dora.browser.with(["If-None-Match": tag]).get(path)
      #expect(unchanged.status == 304 && caching(unchanged) == ["private"])
      // The list may exist later.
      #expect(try await caching(alice.browser.get(path)) == ["no-store"])
      #expect(try await caching(stack.gateway.get("/api/v1/credits/costs")) == [])
      #expect(try await caching(stack.auth.get("/.well-known/jwks.json")) == ["public, max-age=60"])
    }
  }

  @Test func outsideOfDevelopmentMetricsAreForServicesAlone() async throws {
    try await withStack(.sqlite, ["ENVIRONMENT": "staging"]) { stack in
      let key = TestStack.keys["plain"] ?? ""
      for service in [
        stack.auth, stack.invites, stack.groups, stack.lists, stack.credits, stack.events, stack.adventures,
        stack.timepoints,
      ] {
        // A local proxy may forward requests of any client without saying so.
        #expect(try await service.get("/metrics").status == 404)
        #expect(try await service.bearing("x").get("/metrics").status == 404)
        #expect(try await service.with(["X-Service-Key": "x"]).get("/metrics").status == 404)
        #expect(try await service.with(["X-Service-Key": key]).get("/metrics").status == 200)
        let prometheus = try await service.bearing(key).get("/metrics")
        #expect(prometheus.status == 200 && prometheus.text.contains("process_resident_memory_bytes"))
      }
    }
  }
}
