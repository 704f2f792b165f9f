import Credits
import Foundation
import Support
import Testing
import Web
import Wire

/// The HTTP behavior that all services share.
@Suite struct WebTests {
  @Test func everyPathAndMethodHasItsAnswer() async throws {
    try await withStack(.sqlite) { stack in
      let alice = try await stack.signIn("alice")
      let missing = try await stack.auth.get("/api/v1/nowhere")
      #expect(missing.status == 404)
      #expect(missing.string("code") == "not_found")
      let wrong = try await stack.auth.send(.PUT, "/api/v1/auth/refresh")
      #expect(wrong.status == 405)
      #expect(wrong.headers.first(name: "allow") == "POST")
      #expect(wrong.headers.first(name: "content-type") == "application/problem+json")
      let auth = stack.auth.bearing(alice.access)
      #expect(try await auth.get("/api/v1/auth/me").status == 200)
      for same in ["/api/v1/auth/me/", "/api/v1/auth/me?a=b"] {
        #expect(try await auth.get(same).status == 200, "\(same)")
      }
      #expect(try await auth.get("/API/v1/auth/me").status == 404)
      let head = try await auth.send(.HEAD, "/api/v1/auth/me")
      #expect(head.status == 200)
      #expect(head.body.isEmpty)
    }
  }

  @Test func badBodiesGetAClearAnswer() async throws {
    try await withStack(.sqlite) { stack in
      let path = "/api/v1/auth/refresh"
      let cases: [(body: String, type: String, status: Int, code: String)] = [
        ("{", "application/json", 400, "malformed_json"), ("", "application/json", 400, "malformed_json"),
        (#"{"refresh_token":"x"} x"#, "application/json", 400, "malformed_json"),
        ("[]", "application/json", 422, "validation_error"), ("{}", "application/json", 422, "validation_error"),
        (#"{"refresh_token":null}"#, "application/json", 422, "validation_error"),
        (#"{"refresh_token":7}"#, "application/json", 422, "validation_error"),
        (#"{"refresh_token":"x"}"#, "text/plain", 415, "unsupported_media_type"),
        ("refresh_token=x", "application/x-www-form-urlencoded", 415, "unsupported_media_type"),
        (#"{"refresh_token":"x","more":1}"#, "application/json; charset=utf-8", 401, "invalid_refresh_token"),
        (String(repeating: " ", count: 65 * 1024) + "{}", "application/json", 413, "body_too_large"),
      ]
      for server in [stack.auth, stack.gateway] {
        for (body, type, status, code) in cases {
          let reply = try await server.with(["Content-Type": type]).send(.POST, path, body: Data(body.utf8))
          #expect(reply.status == status, "\(body.prefix(30)) \(type)")
          #expect(reply.string("code") == code, "\(body.prefix(30)) \(type)")
        }
      }
    }
  }

  @Test func theRequestsIDAndTraceTravelAlong() async throws {
    try await withStack(.sqlite) { stack in
      let named = try await stack.gateway.with(["X-Request-Id": "my-id-1"]).get("/api/v1/auth/me")
      #expect(named.headers["x-request-id"] == ["my-id-1"])
      #expect(named.string("request_id") == "my-id-1")
      let odd = try await stack.gateway.with(["X-Request-Id": "my id"]).get("/api/v1/credits/costs")
      #expect(odd.headers["x-request-id"].count == 1)
      #expect(odd.headers.first(name: "x-request-id") != "my id")
    }
  }

  @Test func healthSaysWhatEveryContractAsks() async throws {
    try await withStack(.sqlite) { stack in
      for server in [
        stack.auth, stack.lists, stack.credits, stack.events, stack.adventures, stack.timepoints, stack.gateway,
      ] {
        let health = try await server.get("/health")
        #expect(health.status == 200)
        #expect(health.string("status") == "ok")
        #expect(health.bool("database") == true)
        #expect(health.string("environment") == "development")
        #expect(health.string("version") == Kith.version)
        #expect(health.int("uptime") != nil)
        #expect(health.string("timestamp").hasSuffix("Z"))
        #expect(try await server.get("/health/live").status == 200)
      }
      let root = try await stack.gateway.get("/")
      for name in ["name", "version", "docs", "health", "message", "status"] { #expect(!root.string(name).isEmpty) }
    }
  }

  @Test func aServiceIsNotReadyBeforeItHasHeardWhichSessionsEnded() async throws {
    try await withStack(.sqlite) { stack in
      let addresses = ServiceAddresses(Settings([:]))
      addresses.set(.auth, to: "http://127.0.0.1:\(try freePort())")
      let settings = stack.dependencies(of: "credits").settings
      let credits = try await buildCredits(Dependencies(settings, serviceAddresses: addresses, logger: quiet))
      try await running([credits]) {
        let browser = Browser("http://127.0.0.1:\(try await credits.port.number)")
        #expect(try await browser.get("/health").status == 200)
        let early = try await browser.get("/health/ready")
        #expect(early.status == 503 && early.headers["retry-after"] == ["1"])
        addresses.set(.auth, to: stack.auth.base)
        try await eventually("readiness") { try await browser.get("/health/ready").status == 200 }
      }
    }
  }

  @Test func settingsAreReadStrictly() throws {
    let settings = Settings(["PORT": "80x", "DEBUG": "maybe", "EMPTY": "", "LIST": " a, b ,,c ", "ENVIRONMENT": "prod"])
    #expect(throws: StartFailure.self) { try settings.int("PORT", default: 1, in: 0...65535) }
    #expect(throws: StartFailure.self) { try settings.bool("DEBUG", default: true) }
    #expect(throws: StartFailure.self) { try settings.stage() }
    #expect(settings.string("EMPTY") == "")
    #expect(settings.nonempty("EMPTY") == nil)
    #expect(settings.list("LIST") == ["a", "b", "c"])
    #expect(try settings.int("NOWHERE", default: 7, in: 0...9) == 7)
    #expect(settings.overlaid(["EMPTY": "x"]).string("EMPTY") == "x")
    #expect(settings.defaulting(["EMPTY": "x", "NEW": "y"]).string("EMPTY") == "")
    #expect(settings.defaulting(["EMPTY": "x", "NEW": "y"]).string("NEW") == "y")
  }

  @Test func serviceKeysSayWhoMayDoWhat() throws {
    let keys = try ServiceKeys(
      Settings(["SERVICE_KEYS": "gateway:g1, gateway:g2,auth:a:with:colons,billing+credits:b,sync+act:s"]))
    #expect(keys.service(presenting: "g1")?.isGateway == true)
    #expect(keys.service(presenting: "g2")?.isGateway == true)
    #expect(keys.service(presenting: "a:with:colons")?.name == "auth")
    #expect(keys.service(presenting: "g") == nil)
    #expect(keys.service(presenting: "") == nil)
    let billing = try #require(keys.service(presenting: "b"))
    #expect(billing.isAdmitted(as: ["auth"], scope: "credits") && !billing.isAdmitted(as: ["auth"]))
    #expect(!billing.mayAssertUsers)
    #expect(keys.service(presenting: "s")?.mayAssertUsers == true)
    #expect(throws: StartFailure.self) { try ServiceKeys(Settings(["SERVICE_KEYS": "nonsense"])) }
    let shared = try ServiceKeys(Settings(["SERVICE_KEY": "one for all"]))
    #expect(shared.service(presenting: "one for all")?.isAdmitted(as: ["auth"]) == true)
    #expect(try ServiceKeys(Settings([:])).isEmpty)
  }

  @Test func oneSharedKeyIsTheSimplestDeployment() async throws {
    try await withStack(.sqlite) { stack in
      let shared = stack.dependencies.settings.overlaid(["SERVICE_KEYS": "", "SERVICE_KEY": "shared by everybody"])
      let credits = try await buildCredits(
        Dependencies(
          shared.overlaid(["DATA_DIR": stack.testDatabase.folder.path]),
          serviceAddresses: stack.dependencies.serviceAddresses, logger: quiet))
      try await running([credits]) {
        let browser = Browser("http://127.0.0.1:\(try await credits.port.number)")
        let alice = try await stack.signIn("alice")
        #expect(try await alice.browser.get("/api/v1/credits/balance").int("balance") == 50)
        let body: [String: any Sendable] = ["user_id": alice.id.description, "cost": 1]
        let spent = try await browser.with(["X-Service-Key": "shared by everybody"])
          .post("/internal/credits/spend", body)
        #expect(spent.int("balance_after") == 49)
        #expect(try await browser.with(["X-Service-Key": "x"]).post("/internal/credits/spend", body).status == 403)
      }
    }
  }
}
