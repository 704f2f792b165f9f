import Auth
import Clients
import Database
import Foundation
import Support
import Testing
import Web
import Wire

/// Accounts: of developers, of users, and of external systems' users.
@Suite struct AccountTests {
  @Test func theDevelopersTokenNeedsTheAdminsKeyBeforeAnythingElse() async throws {
    try await withStack(.sqlite) { stack in
      let path = "/api/v1/auth/dev/token"
      #expect(try await stack.gateway.send(.POST, path, body: Data("{".utf8)).status == 403)
      #expect(try await stack.gateway.with(["X-Admin-Key": "wrong"]).post(path, ["email": "a@b.c"]).status == 403)
      let admin = stack.gateway.with(["X-Admin-Key": TestStack.adminKey])
      #expect(try await admin.send(.POST, path, body: Data("{".utf8)).status == 400)
      for wrong in ["", "alice", "a@b@c", "a b@c.de", "@b.c", "a@"] {
        let reply = try await admin.post(path, ["email": wrong])
        #expect(reply.status == 422)
        #expect(reply.string("code") == "validation_error")
      }
      #expect(try await admin.post(path, ["email": "alice@example.com"]).status == 200)
    }
    try await withStack(.sqlite, ["ADMIN_API_KEY": ""]) { stack in
      let reply = try await stack.gateway.with(["X-Admin-Key": ""]).post("/api/v1/auth/dev/token", ["email": "a@b.c"])
      #expect(reply.status == 403)
    }
  }

  @Test(arguments: engines) func theDevelopersTokenFindsTheAccountThatItMade(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let first = try await stack.signIn("alice")
      let second = try await stack.signIn("ALICE")
      #expect(first.id == second.id)
      let me = try await first.browser.get("/api/v1/auth/me/")
      #expect(me.string("email") == "alice@example.com")
      #expect(me.string("display_name") == "alice")
      #expect(me.string("created_at").hasSuffix("Z") && !me.string("created_at").contains("."))
    }
  }

  @Test func badBearersAreTurnedAway() async throws {
    try await withStack(.sqlite) { stack in
      let alice = try await stack.signIn("alice")
      #expect(try await alice.browser.get("/api/v1/auth/me").status == 200)
      for header in ["", "Bearer", "Bearer ", "Bearer x.y.z", "Basic YTpi", "Bearer \(alice.access)x", alice.access] {
        let reply = try await stack.gateway.with(["Authorization": header]).get("/api/v1/auth/me")
        #expect(reply.status == 401, "\(header)")
        #expect(reply.headers.first(name: "www-authenticate") == "Bearer")
      }
      #expect(try await stack.gateway.get("/api/v1/auth/me").status == 401)
      #expect(try await stack.auth.get("/api/v1/auth/me").status == 401)
    }
  }

  @Test(arguments: engines) func aDeletedAccountIsGoneAtOnceAndComesBackWithASignIn(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (phone, tablet) = (try await stack.signIn("alice"), try await stack.signIn("alice"))
      #expect(try await phone.browser.get("/api/v1/credits/balance").int("balance") == 50)
      let reply = try await phone.browser.delete("/api/v1/auth/account")
      #expect(reply.status == 200)
      #expect(reply.string("detail") == "Account deactivated")
      for user in [phone, tablet] {
        #expect(try await user.browser.get("/api/v1/auth/me").status == 401)
        #expect(try await user.browser.get("/api/v1/credits/balance").status == 401)
        let refresh = try await stack.gateway.post("/api/v1/auth/refresh", ["refresh_token": user.refresh])
        #expect(refresh.status == 401)
      }
      let users = UsersClient(in: stack.dependencies(of: "credits"))
      #expect(try await users.profile(of: phone.id)?.isActive == false)
      let back = try await stack.signIn("alice")
      #expect(back.id == phone.id)
      #expect(try await users.profile(of: phone.id)?.isActive == true)
      #expect(try await back.browser.get("/api/v1/credits/balance").int("balance") == 50)
    }
  }

  @Test(arguments: engines) func fiftyAtOnceResolveToOneUser(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let system = stack.gateway.with(stack.with(key: "plain"))
      let body: [String: any Sendable] = ["external_id": "auth0|123", "email": "z@example.com", "display_name": "Zoë"]
      let replies = try await atOnce(50) { _ in try await system.post("/api/v1/users/resolve", body) }
      #expect(replies.allSatisfy { $0.status == 200 })
      #expect(Set(replies.map { $0.string("user_id") }).count == 1)
      #expect(replies.count { $0.bool("created") == true } == 1)
      let direct = try await stack.auth.with(stack.with(key: "plain")).post("/api/v1/users/resolve", body)
      #expect(direct.bool("created") == false)
      #expect(direct.string("user_id") == replies[0].string("user_id"))
    }
  }

  private func resolved(
    by server: Browser, _ body: [String: any Sendable], key: String?
  ) async throws -> Int {
    try await server.with(key.map { ["X-Service-Key": $0] } ?? [:]).post("/api/v1/users/resolve", body).status
  }

  @Test func resolvingNeedsAKeyAndAName() async throws {
    try await withStack(.sqlite) { stack in
      for server in [stack.gateway, stack.auth] {
        let key = TestStack.keys["plain"]
        let without = try await resolved(by: server, ["external_id": "x"], key: nil)
        #expect(without == 403)
        #expect(try await resolved(by: server, ["external_id": "x"], key: "wrong") == 403)
        for wrong in [" ", String(repeating: "x", count: 256), "a\0b"] {
          #expect(try await resolved(by: server, ["external_id": wrong], key: key) == 422)
        }
        #expect(try await resolved(by: server, ["external_id": "x", "email": "no"], key: key) == 422)
        #expect(try await resolved(by: server, ["external_id": "x"], key: key) == 200)
      }
    }
    try await withStack(.sqlite) { stack in
      let settings = stack.dependencies.settings.overlaid(["SERVICE_KEYS": "", "SERVICE_KEY": ""])
      let auth = try await buildAuth(stack.dependencies.with(settings))
      try await running([auth]) {
        let browser = Browser("http://127.0.0.1:\(try await auth.port.number)")
        let reply = try await browser.with(["X-Service-Key": "x"]).post("/api/v1/users/resolve", ["external_id": "x"])
        #expect(reply.status == 503)
        #expect(reply.string("code") == "service_keys_unset")
      }
    }
  }

  @Test(arguments: engines) func aTrustedSystemActsAsItsUsers(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let sync = stack.gateway.with(stack.with(key: "sync+act"))
      let resolved = try await sync.post("/api/v1/users/resolve", ["external_id": "auth0|7", "email": "z@example.com"])
      let id = resolved.string("user_id")
      for server in [sync, stack.auth.with(stack.with(key: "sync+act"))] {
        #expect(try await server.with(["X-User-ID": id]).get("/api/v1/auth/me").string("id") == id)
        #expect(try await server.with(["X-User-ID": "auth0|7"]).get("/api/v1/auth/me").string("id") == id)
        let unknown = try await server.with(["X-User-ID": "auth0|8"]).get("/api/v1/auth/me")
        #expect(unknown.status == 404)
        #expect(unknown.string("code") == "user_not_found")
      }
      let credits = stack.credits.with(stack.with(key: "sync+act")).with(["X-User-ID": "auth0|7"])
      #expect(try await credits.get("/api/v1/credits/balance").int("balance") == 50)
      // A bearer token takes precedence over the header.
      let alice = try await stack.signIn("alice")
      let both = try await alice.browser.with(stack.with(key: "sync+act")).with(["X-User-ID": id])
        .get("/api/v1/auth/me")
      #expect(both.string("id") == alice.id.description)
      // A key without the permission, a wrong key, no key.
      let plain = try await stack.gateway.with(stack.with(key: "plain")).with(["X-User-ID": id]).get("/api/v1/auth/me")
      #expect(plain.status == 403)
      for headers in [["X-User-ID": id, "X-Service-Key": "wrong"], ["X-User-ID": id]] {
        #expect(try await stack.gateway.with(headers).get("/api/v1/auth/me").status == 401)
        #expect(try await stack.auth.with(headers).get("/api/v1/auth/me").status == 401)
        #expect(try await stack.credits.with(headers).get("/api/v1/credits/balance").status == 401)
      }
    }
  }

  @Test(arguments: ["", "auth0|" + String(repeating: "7", count: 250), String(repeating: "é", count: 5000)])
  func whatCanBeNobodysNameNamesNobody(name: String) async throws {
    try await withStack(.sqlite) { stack in
      let key = stack.with(key: "sync+act")
      for server in [stack.gateway, stack.auth, stack.credits] {
        let path = server.base == stack.auth.base ? "/api/v1/auth/me" : "/api/v1/credits/balance"
        let reply = try await server.with(key).with(["X-User-ID": name]).get(path)
        #expect(reply.status == 404, "\(reply.text)")
        #expect(reply.string("code") == "user_not_found")
      }
    }
  }

  @Test func insidersRoutesAreForTheNamesTheyList() async throws {
    try await withStack(.sqlite) { stack in
      let alice = try await stack.signIn("alice")
      let path = "/internal/users/\(alice.id)"
      #expect(try await stack.auth.with(stack.with(key: "credits")).get(path).status == 200)
      #expect(try await stack.auth.with(stack.with(key: "plain")).get(path).status == 403)
      #expect(try await stack.auth.with(stack.with(key: "sync+act")).get(path).status == 403)
      #expect(try await stack.auth.bearing(alice.access).get(path).status == 403)
      #expect(try await stack.gateway.with(stack.with(key: "credits")).get(path).status == 404)
    }
  }

  @Test func theDocumentNamesExactlyTheRoutesThatThereAre() async throws {
    try await withStack(.sqlite) { stack in
      for server in stack.servers {
        #expect(try server.api.operations == server.operations, "\(server.service)")
        #expect(!server.operations.isEmpty)
      }
      let document = try await stack.auth.get("/openapi.json")
      #expect(document.string("openapi").hasPrefix("3.1"))
    }
  }
}
