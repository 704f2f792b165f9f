import Database
import Foundation
import Gateway
import Support
import Testing
import Web

/// All responses of `/auth/v1`, decoded as supabase-swift decodes them.
@Suite struct SupabaseSwiftTests {
  typealias Library = SupabaseSwift

  /// The models in these tests must reject what the library rejects.
  @Test func theModelsAreAsStrictAsTheLibrary() throws {
    #expect(Library.date("2026-11-22T05:06:07Z") != nil && Library.date("2026-11-22T05:06:07.123Z") != nil)
    #expect(Library.date("2026-11-22") == nil && Library.date("2026-11-22T05:06:07+02:00") == nil)
    let identity = #"{"id":"a","identity_id":"ID","user_id":"6b1f0c52-77a4-4e3d-9c1a-2f4d6e8b0a13","provider":"email"}"#
    func read(_ id: String) throws -> Library.UserIdentity {
      try Library.decode(Library.UserIdentity.self, from: Data(identity.replacing("ID", with: id).utf8))
    }
    #expect(throws: DecodingError.self) { try read("email:alice@example.com") }
    #expect(try read("6b1f0c52-77a4-8e3d-9c1a-2f4d6e8b0a13").provider == "email")
  }

  @Test(arguments: engines) func everyWayInAnswersWithASession(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      let app = SupabaseApp(auth.gateway)
      let alice = try await app.signUp("alice", data: ["team": "red", "age": 7, "nested": ["a": [1, 2]]])
      #expect(alice.tokenType == "bearer" && alice.expiresIn == 3600 && alice.user.aud == "authenticated")
      let identity = try #require(alice.user.identities?.first)
      #expect(identity.id == "alice@example.com" && identity.provider == "email" && identity.userId == alice.user.id)
      let older: [String: any Sendable] = ["email": "bob@example.com", "password": "correct horse"]
      _ = try await app.call(.POST, "signup/email", older, as: Library.SignUp.self)
      _ = try await app.call(.POST, "signin/email", older, as: Library.Session.self)
      let nobody = try await app.call(.POST, "signup", [:], as: Library.Session.self)
      #expect(nobody.user.isAnonymous == true && nobody.user.identities?.isEmpty == true)
      let again = try await app.signIn("alice@example.com", "correct horse")
      #expect(again.user.identities?.first?.identityId == identity.identityId)
      let refreshed = try await app.call(
        .POST, "token?grant_type=refresh_token", ["refresh_token": again.refreshToken], as: Library.Session.self)
      #expect(refreshed.user.id == alice.user.id)
      let token = try auth.stack.apple.identityToken(at: auth.stack.clock.now)
      let apple: [String: any Sendable] = ["provider": "apple", "id_token": token]
      let first = try await app.call(.POST, "token?grant_type=id_token", apple, as: Library.Session.self)
      #expect(first.user.appMetadata?["provider"] == .string("apple"))
      _ = try await app.call(.POST, "signin/apple", apple, as: Library.Session.self)
      _ = try await app.call(.POST, "otp", ["phone": "4790123456"], as: Library.Sent.self)
      let code = try await auth.code(texted: "+4790123456")
      let verified = try await app.call(
        .POST, "verify", ["type": "sms", "phone": "4790123456", "token": code], as: Library.Verified.self)
      guard case .session(let phone) = verified else { throw Unexpected(reply: "\(verified)") }
      #expect(phone.user.phone == "4790123456" && phone.user.appMetadata?["provider"] == .string("phone"))
      _ = try await app.call(.POST, "otp", ["email": "carol@example.com"], as: Library.Sent.self)
      let message = try await auth.receivedMail(to: "carol@example.com")
      _ = try await app.call(
        .POST, "verify", ["type": "email", "email": "carol@example.com", "token": message.code],
        as: Library.Session.self)
    }
  }

  @Test(arguments: engines) func everythingForWhoIsSignedInIsRead(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      let session = try await SupabaseApp(auth.gateway).signUp("alice")
      let app = SupabaseApp(auth.gateway).signedIn(session)
      #expect(try await app.call(.GET, "user", as: Library.User.self).id == session.user.id)
      let changed = try await app.call(
        .PUT, "user", ["data": ["team": "blue"], "email": "new@example.com"], as: Library.User.self)
      #expect(changed.newEmail == "new@example.com" && changed.emailChangeSentAt != nil)
      #expect(changed.email == "alice@example.com" && changed.userMetadata?["team"] == .string("blue"))
      _ = try await app.call(.GET, "reauthenticate", as: Library.EmptyBody.self)
      for path in ["magiclink", "recover"] {
        _ = try await app.call(.POST, path, ["email": "alice@example.com"], as: Library.Sent.self)
      }
      _ = try await app.call(.POST, "resend", ["type": "signup", "email": "alice@example.com"], as: Library.Sent.self)
      #expect(try await app.call(.GET, ".well-known/jwks.json", as: Library.Keys.self).keys.isEmpty)
      for scope in ["others", "local"] {
        _ = try await app.call(.POST, "logout?scope=\(scope)", as: Library.EmptyBody.self)
      }
      #expect(try await app.refusal(.GET, "user").endsSession)
    }
  }

  /// Every error response has a code and a message that the library decodes, and no other members.
  @Test(arguments: engines) func everyRefusalIsRead(engine: Engine) async throws {
    try await withAuthFixture(engine, ["SMS_PER_NUMBER_HOUR": "0"]) { auth in
      let app = SupabaseApp(auth.gateway)
      let alice = app.signedIn(try await app.signUp("alice"))
      let wrong = ["email": "alice@example.com", "password": "wrong horse"]
      let cases: [(SupabaseApp, SupabaseApp.Method, String, [String: any Sendable]?, Int, String)] = [
        (
          app, .POST, "signup", ["email": "alice@example.com", "password": "correct horse"], 422, "user_already_exists"
        ),
        (app, .POST, "signup", ["email": "bob@example.com", "password": "short"], 422, "weak_password"),
        (app, .POST, "signup", ["email": "nonsense", "password": "correct horse"], 400, "validation_failed"),
        (app, .POST, "signup", ["phone": "4790123456", "password": "correct horse"], 422, "phone_provider_disabled"),
        (app, .POST, "token?grant_type=password", wrong, 400, "invalid_credentials"),
        (app, .POST, "token?grant_type=refresh_token", ["refresh_token": "none"], 401, "refresh_token_not_found"),
        (app, .POST, "token?grant_type=id_token", ["id_token": "none"], 401, "invalid_apple_token"),
        (
          app, .POST, "token?grant_type=pkce", ["auth_code": "none", "code_verifier": "none"], 404,
          "flow_state_not_found"
        ),
        (app, .POST, "token?grant_type=magic", [:], 400, "validation_failed"),
        (app, .POST, "otp", ["phone": "4790123456"], 429, "over_request_rate_limit"),
        (app, .POST, "verify", ["type": "email", "email": "alice@example.com", "token": "1"], 403, "otp_expired"),
        (app, .POST, "resend", ["type": "magic", "email": "alice@example.com"], 400, "validation_failed"),
        (app, .GET, "user", nil, 401, "bad_jwt"),
        (app, .GET, "reauthenticate", nil, 401, "bad_jwt"),
        (app, .PUT, "user", ["data": ["team": "red"]], 401, "bad_jwt"),
        (app, .POST, "logout", nil, 401, "bad_jwt"),
        (alice, .PUT, "user", ["password": "short"], 422, "weak_password"),
        (alice, .PUT, "user", ["password": "correct horse"], 422, "same_password"),
        (alice, .POST, "logout?scope=nowhere", nil, 400, "validation_failed"),
        // Endpoints that are not implemented.
        (alice, .POST, "factors", ["factor_type": "totp"], 404, "not_found"),
        (alice, .DELETE, "factors/1", nil, 404, "not_found"),
        (app, .POST, "sso", ["domain": "example.com"], 404, "not_found"),
        (app, .GET, "admin/users", nil, 404, "not_found"),
        (app, .DELETE, "user", nil, 405, "method_not_allowed"),
      ]
      for (caller, method, path, body, status, code) in cases {
        let reply = try await caller.send(method, path, body)
        let error = SupabaseSwift.error(reply)
        #expect(error.status == status && error.code == code, "\(path): \(reply.text)")
        #expect(!error.message.isEmpty && error.message != "Unexpected error", "\(path): \(reply.text)")
        let members = Set((reply.json as? [String: Any] ?? [:]).keys)
        #expect(members == (code == "weak_password" ? ["code", "message", "weak_password"] : ["code", "message"]))
        #expect(reply.headers.first(name: "x-sb-error-code") == code, "\(path)")
        #expect(reply.headers.first(name: "x-supabase-api-version") == "2024-01-01", "\(path)")
        if code == "weak_password" { #expect(error.reasons == ["length"]) }
      }
      #expect(try await app.browser.get("/auth/v1/user").headers.first(name: "www-authenticate") == "Bearer")
    }
  }

  /// The gateway's own error responses are decoded as well: rate limits, body sizes, and an unavailable service.
  @Test func whatTheGatewayAnswersByItselfIsRead() async throws {
    try await withAuthFixture(.sqlite, ["RATE_LIMIT_SIGN_IN": "2"]) { auth in
      let app = SupabaseApp(auth.gateway)
      let large = try await app.refusal(.POST, "signup", ["email": String(repeating: "x", count: 70_000)])
      #expect(large.status == 413 && large.code == "body_too_large")
      for _ in 0..<2 { _ = try await app.send(.POST, "otp", ["email": "nonsense"]) }
      let limited = try await app.send(.POST, "otp", ["email": "nonsense"])
      #expect(limited.status == 429 && limited.headers.first(name: "retry-after") != nil)
      #expect(SupabaseSwift.error(limited).code == "over_request_rate_limit")
      let forged = auth.gateway.bearing("a.b.c")
      let unversioned = try await forged.get("/auth/v1/user")
      #expect((unversioned["error"] as? [String: Any])?["code"] as? String == "AUTH_REQUIRED")
      #expect(unversioned.string("error_code") == "bad_jwt" && unversioned.string("msg") == "Sign in to continue.")
      #expect(unversioned.headers.first(name: "content-type") == "application/problem+json")
      let odd = try await forged.with(["X-Supabase-Api-Version": "latest"]).get("/auth/v1/user")
      #expect(odd["error"] is [String: Any] && odd.headers.first(name: "x-supabase-api-version") == nil)
      // The header has no effect on other paths.
      let elsewhere = try await auth.gateway.with(["X-Supabase-Api-Version": "2024-01-01"]).get("/api/v1/auth/me")
      #expect(elsewhere.string("code") == "unauthorized" && elsewhere["error"] is [String: Any])
    }
    try await withTestDatabase(.sqlite) { testDatabase in
      let settings = TestStack.settings(testDatabase, appleKeys: "http://127.0.0.1:1")
        .overlaid(["AUTH_URL": "http://127.0.0.1:1", "SERVICE_KEY": TestStack.keys["gateway"] ?? ""])
      let gateway = try buildGateway(Dependencies(settings, logger: quiet))
      try await running([gateway]) {
        let alone = Browser("http://127.0.0.1:\(try await gateway.port.number)")
        let away = try await SupabaseApp(alone).send(.POST, "otp", ["email": "alice@example.com"])
        #expect(away.status == 503 && SupabaseSwift.error(away).code == "service_unavailable")
        #expect(away.headers.first(name: "x-supabase-api-version") == "2024-01-01")
      }
    }
  }

  /// The library removes its session after certain error codes only.
  @Test(arguments: engines) func aDeadSessionIsForgotten(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      let app = SupabaseApp(auth.gateway)
      let first = try await app.signUp("alice")
      func refresh(_ token: String) async throws -> Library.APIError {
        try await app.refusal(.POST, "token?grant_type=refresh_token", ["refresh_token": token])
      }
      let body = ["refresh_token": first.refreshToken]
      let second = try await app.call(.POST, "token?grant_type=refresh_token", body, as: Library.Session.self)
      auth.stack.clock.advance(by: .seconds(11))
      #expect(try await refresh(first.refreshToken).code == "refresh_token_already_used")
      // The reuse has ended the session.
      #expect(try await refresh(second.refreshToken).code == "refresh_token_not_found")
      #expect(try await app.signedIn(second).refusal(.GET, "user").code == "session_not_found")
      let third = try await app.signIn("alice@example.com", "correct horse")
      _ = try await app.signedIn(third).call(.POST, "logout", as: Library.EmptyBody.self)
      let over = try await refresh(third.refreshToken)
      #expect(over.code == "refresh_token_not_found" && over.endsSession)
    }
  }

  @Test(arguments: engines) func anAccessTokenSaysHowItsSessionWasOpened(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      let app = SupabaseApp(auth.gateway)
      let then = Int(auth.stack.clock.now.timeIntervalSince1970)
      let session = try await app.signUp("alice")
      let opened = then...Int(auth.stack.clock.now.timeIntervalSince1970)
      #expect(try claims(session)["aal"] as? String == "aal1")
      auth.stack.clock.advance(by: .seconds(600))
      let refreshed = try await app.call(
        .POST, "token?grant_type=refresh_token", ["refresh_token": session.refreshToken], as: Library.Session.self)
      for session in [session, refreshed] {
        let methods = try #require(try claims(session)["amr"] as? [[String: Any]])
        #expect(methods.count == 1 && methods[0]["method"] as? String == "password")
        #expect(opened.contains(try #require(methods[0]["timestamp"] as? Int)))
      }
      let nobody = try await app.call(.POST, "signup", [:], as: Library.Session.self)
      #expect((try claims(nobody)["amr"] as? [[String: Any]])?.first?["method"] as? String == "anonymous")
    }
  }

  private func claims(_ session: Library.Session) throws -> [String: Any] {
    var text = session.accessToken.split(separator: ".")[1].replacing("-", with: "+").replacing("_", with: "/")
    while text.count % 4 != 0 { text += "=" }
    let data = try #require(Data(base64Encoded: String(text)))
    return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
  }
}
