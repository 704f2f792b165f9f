import Foundation
import NIOHTTP1
import Support
import Wire

extension Calls {
  func authCalls() async throws {
    try await passwordCalls()
    try await sessionCalls()
    try await profileCalls()
    try await identityCalls()
    try await supabaseCalls()
    try await phoneCalls()
    try await internalCalls()
  }

  private func passwordCalls() async throws {
    let (gateway, email) = (stack.gateway, "plans@example.com")
    let credentials = ["email": email, "password": "correct horse"]
    let signedUp = try await gateway.ok(
      .POST, "/api/v1/auth/sign_up", ["user": credentials.merging(["name": "Plans"]) { $1 }])
    try await gateway.refused(.POST, "/api/v1/auth/sign_up", ["user": credentials])
    let code = try await mailed(to: email).code
    try await gateway.bearing(signedUp.string("token"))
      .ok(.POST, "/auth/v1/verify", ["type": "signup", "email": email, "token": code])
    let signedIn = try await gateway.ok(.POST, "/api/v1/auth/sign_in", credentials)
    try await gateway.refused(.POST, "/api/v1/auth/sign_in", ["email": email, "password": "wrong horse"])
    try await gateway.refused(.POST, "/api/v1/auth/sign_in", ["email": "nobody@example.com", "password": "a horse"])
    let user = gateway.bearing(signedIn.string("token"))
    try await user.ok(
      .PUT, "/api/v1/users/profile/password", ["current_password": "correct horse", "password": "another horse"])
    try await gateway.ok(.POST, "/api/v1/auth/password", ["email": email])
    let token = try await mailed(to: email, after: 1).token
    try await gateway.ok(.PUT, "/api/v1/auth/password", ["token": token, "password": "a third horse"])
    let again = try await gateway.ok(
      .POST, "/api/v1/auth/sign_in", ["email": email, "password": "a third horse"])
    try await gateway.bearing(again.string("token")).ok(.DELETE, "/api/v1/auth/sign_out")
  }

  private func sessionCalls() async throws {
    let (alice, gateway) = (try await signIn(30), stack.gateway)
    for _ in 0..<3 { _ = try await signIn(30) }
    let reply = try await alice.browser.ok(.GET, "/api/v1/auth/sessions")
    let sessions = reply["sessions"] as? [[String: Any]] ?? []
    let other = sessions.first { $0["current"] as? Bool == false && $0["ended_at"] is NSNull }?["id"] as? String ?? ""
    try await alice.browser.ok(.DELETE, "/api/v1/auth/sessions/\(other)")
    let rotated = try await gateway.ok(.POST, "/api/v1/auth/refresh", ["refresh_token": alice.refresh])
    let refresh = ["refresh_token": rotated.string("refresh_token")]
    let keyed = gateway.with(["Idempotency-Key": "plans-refresh"])
    for _ in 0..<2 {
      let reply = try await keyed.post("/api/v1/auth/refresh", refresh)
      guard reply.status == 200 else { throw Unexpected(reply: reply.text) }
    }
    let bearer = gateway.bearing(rotated.string("access_token"))
    try await bearer.ok(.DELETE, "/api/v1/auth/sessions")
    // The first token was used: every session ends.
    try await gateway.refused(.POST, "/api/v1/auth/refresh", ["refresh_token": alice.refresh])
    // The maximum age of a session.
    let old = try await signIn(33)
    try await age(old, byDays: 10_000)
    try await gateway.refused(.POST, "/api/v1/auth/refresh", ["refresh_token": old.refresh])
    let last = try await signIn(30)
    try await gateway.ok(.POST, "/api/v1/auth/logout", ["refresh_token": last.refresh])
    for scope in ["local", "others", "global"] {
      try await signIn(30).browser.ok(.POST, "/auth/v1/logout?scope=\(scope)")
    }
  }

  /// As if the user had signed in so many days earlier.
  private func age(_ user: SignedInUser, byDays days: Double) async throws {
    let openedAt = stack.clock.now - days * 86_400
    try await withDatabase(of: "auth") { database in
      try await database.write { db in
        _ = try db.change("update session set opened_at = \(openedAt) where account_id = \(user.id)")
      }
    }
  }

  private func profileCalls() async throws {
    let user = try await signIn(31).browser
    for path in ["/api/v1/users/profile", "/users/me", "/api/auth/me", "/auth/v1/user", "/api/v1/auth/identities"] {
      try await user.ok(.GET, path)
    }
    try await user.ok(
      .PATCH, "/api/v1/users/profile",
      body("user", ["timezone": "Europe/Oslo", "name": "Plans", "discoverable": false]))
    try await user.ok(.PATCH, "/users/me/language", ["locale": "pt-BR"])
    try await user.ok(.PUT, "/auth/v1/user", ["data": ["nick": "plans"]])
    try await user.ok(.GET, "/api/v1/users/me/export")
  }

  private func identityCalls() async throws {
    let user = try await signIn(32).browser
    let path = "/api/v1/auth/identities"
    let (number, email) = ("+4790777010", "second@example.com")
    try await user.ok(.POST, "\(path)/phone", ["phone_number": number])
    let code = try await code(texted: number)
    let wrong = code == "000000" ? "000001" : "000000"
    try await user.refused(.POST, "\(path)/phone/confirm", ["phone_number": number, "code": wrong])
    try await user.ok(.POST, "\(path)/phone/confirm", ["phone_number": number, "code": code])
    try await user.ok(.POST, "\(path)/email", ["email": email])
    let mailed = try await mailed(to: email).code
    try await user.ok(.POST, "\(path)/email/confirm", ["email": email, "code": mailed])
    let token = try stack.apple.identityToken(
      subject: "apple-plans", at: stack.clock.now, changing: ["email": "apple-plans@example.com"])
    try await user.ok(.POST, "\(path)/apple", ["id_token": token])
    try await stack.gateway.ok(.POST, "/api/v1/auth/apple", ["identity_token": token])
    try await user.ok(.DELETE, "\(path)?issuer=https%3A%2F%2Fissuer.example")
    for provider in ["apple", "phone"] { try await user.ok(.DELETE, "\(path)/\(provider)") }
  }

  private func supabaseCalls() async throws {
    let (gateway, email) = (stack.gateway, "supabase@example.com")
    try await anonymousCalls()
    try await verifierCalls()
    try await gateway.ok(.POST, "/auth/v1/otp", ["email": email, "data": ["nick": "plans"]])
    let first = try await mailed(to: email)
    try await gateway.ok(.GET, "/auth/v1/verify?token_hash=\(first.token)")
    _ = try await form("/auth/v1/verify", "token_hash=\(first.token)")
    try await gateway.ok(.POST, "/auth/v1/recover", ["email": email])
    let code = try await mailed(to: email, after: 1).code
    let session = try await gateway.ok(
      .POST, "/auth/v1/verify", ["type": "recovery", "email": email, "token": code])
    let user = gateway.bearing(session.string("access_token"))
    try await user.ok(.PUT, "/auth/v1/user", ["password": "a Supabase horse"])
    let new = "supabase-new@example.com"
    try await user.ok(.PUT, "/auth/v1/user", ["email": new])
    try await gateway.ok(.POST, "/auth/v1/resend", ["type": "email_change", "email": new])
    let change = try await mailed(to: new).code
    try await user.ok(.POST, "/auth/v1/verify", ["type": "email_change", "email": new, "token": change])
    let number = "+4790777011"
    try await user.ok(.PUT, "/auth/v1/user", ["phone": number])
    let texted = try await self.code(texted: number)
    try await gateway.ok(.POST, "/auth/v1/resend", ["type": "phone_change", "phone": number])
    try await user.ok(.POST, "/auth/v1/verify", ["type": "phone_change", "phone": number, "token": texted])
    try await user.ok(.GET, "/auth/v1/reauthenticate")
    try await gateway.ok(
      .POST, "/auth/v1/token?grant_type=password", ["email": new, "password": "a Supabase horse"])
  }

  /// An anonymous user adds an address, and two days later a password.
  private func anonymousCalls() async throws {
    let anonymous = try await stack.gateway.ok(.POST, "/auth/v1/signup", ["data": ["nick": "plans"]])
    let (user, email) = (
      try await SignedInUser(anonymous, through: stack.gateway), "anonymous@example.com"
    )
    try await user.browser.ok(.PUT, "/auth/v1/user", ["email": email])
    let code = try await mailed(to: email).code
    try await user.browser.ok(.POST, "/auth/v1/verify", ["type": "email_change", "email": email, "token": code])
    try await age(user, byDays: 2)
    try await user.browser.ok(.GET, "/auth/v1/reauthenticate")
    let nonce = try await mailed(to: email, after: 1).code
    try await user.browser.ok(.PUT, "/auth/v1/user", ["password": "a horse of its own", "nonce": nonce])
  }

  /// A link that only the app which asked for it can use (RFC 7636).
  private func verifierCalls() async throws {
    let email = "verifier@example.com"
    let (verifier, challenge) = (
      "a-verifier-that-only-the-app-knows-0123456789-0123456789", "pVI6ao4j9hVL45mLYWVvB0YRhtDONYxAzcaTODv8xKo"
    )
    try await stack.gateway.ok(
      .POST, "/auth/v1/otp", ["email": email, "code_challenge": challenge, "code_challenge_method": "s256"])
    let submitted = try await form("/auth/v1/verify", "token_hash=\(try await mailed(to: email).token)")
    let code = submitted.headers.first(name: "location")?.components(separatedBy: "code=").last ?? ""
    for verifier in ["another verifier", verifier] {
      _ = try await stack.gateway.post(
        "/auth/v1/token?grant_type=pkce", ["auth_code": code, "code_verifier": verifier])
    }
  }

  private func phoneCalls() async throws {
    let number = "+4740100033"
    try await stack.gateway.ok(.POST, "/api/auth/request-verification", ["phone_number": number])
    let code = try await code(texted: number)
    try await stack.gateway.ok(.POST, "/api/auth/verify", ["phone_number": number, "code": code])
    // A new number.
    try await stack.gateway.ok(.POST, "/api/auth/request-verification", ["phone_number": "+4790777012"])
    let next = try await self.code(texted: "+4790777012")
    try await stack.gateway.ok(
      .POST, "/api/auth/verify", ["phone_number": "+4790777012", "code": next, "first_name": "Plans"])
  }

  private func internalCalls() async throws {
    let (alice, auth) = (try await signIn(34), inside(stack.auth, as: "lists"))
    let ids = (34..<60).map { String(format: "00000000-0000-7000-8000-%012d", $0) }
    try await auth.ok(.POST, "/internal/users/people", ["ids": ids, "phones": ["+4740100050", "+4740109999"]])
    for name in ["u35@example.com", "36", ids[3]] {
      try await auth.ok(.GET, "/internal/users/person?identifier=\(name)")
    }
    try await auth.ok(.GET, "/internal/users?known_as=\(ids[4])")
    _ = try await auth.get("/internal/users?known_as=outside%7C40")
    try await auth.ok(.GET, "/internal/users/\(alice.id)")
    let feed = try await auth.ok(.GET, "/internal/sessions/ended?limit=2")
    let since = feed.string("cursor")
    try await auth.ok(.GET, "/internal/sessions/ended?since=\(since)")
    if let next = feed["next"] as? String { try await auth.ok(.GET, "/internal/sessions/ended?limit=2&after=\(next)") }
    for external in ["outside|7", "plans|new"] {
      let body = ["external_id": external, "email": "\(external.prefix(5))@example.com", "display_name": "Plans"]
      try await inside(stack.auth, as: "sync+act").ok(.POST, "/api/v1/users/resolve", body)
    }
    for email in ["first@issuer.example", "second@issuer.example"] {
      let user = ExternalUser(
        issuer: "https://issuer.example", subject: "plans", email: email, isEmailVerified: true,
        displayName: "Plans", sharesExternalIDs: false)
      try await auth.ok(.POST, "/internal/users/identified", encoding: user)
    }
  }
}
