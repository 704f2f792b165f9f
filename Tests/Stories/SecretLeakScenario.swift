import Foundation
import Support
import Testing

/// Runs a user's requests from sign-up to deletion and records every secret and every piece of personal data in them.
struct SecretLeakScenario {
  let kith: KithProcess
  let twilio: TwilioServer
  let mail: MailServer
  let keys: KeyServer
  let apple: AppleServer
  let secrets = SecretRecorder()

  private var gateway: Browser { kith.gateway }
  private var email: String { secrets.record("wendeline.q@example.com") }
  private var phone: String { secrets.record("+4790876543") }
  private var name: String { secrets.record("Wendeline Quackenbush") }
  private var password: String { secrets.record("a horse of Wendeline's, 17 hands") }

  func run() async throws {
    secrets.record("quackenbush")
    let user = try await signUp()
    try await confirmByMail(as: user)
    try await signInByPhone(as: user)
    try await signInByMagicLink()
    try await recover()
    let session = try await signIn()
    let refreshed = try await refresh(session)
    try await signInWithApple()
    let alice = gateway.bearing(refreshed.string("access_token"))
    try await writePersonalData(alice)
    try await sendMisplacedSecrets(alice, refreshed)
    try await failDeliveries()
    try await deleteAccount(alice)
  }

  private func signUp() async throws -> Browser {
    let reply = try await gateway.with(["Idempotency-Key": secrets.record("wendelines-own-key")]).post(
      "/api/v1/auth/sign_up", ["user": ["email": email, "password": password, "name": name]])
    #expect(reply.status == 201, "\(reply.text)")
    let again = try await gateway.post("/api/v1/auth/sign_up", ["email": email, "password": password])
    #expect(again.status == 422)
    return gateway.bearing(secrets.record(tokensOf: reply).string("token"))
  }

  private func confirmByMail(as user: Browser) async throws {
    let receivedMail = try await receivedMail(1)
    let wrong = ["type": "signup", "email": email, "token": receivedMail.code == "000000" ? "000001" : "000000"]
    #expect(try await gateway.post("/auth/v1/verify", wrong).status == 403)
    let right = ["type": "signup", "email": email, "token": receivedMail.code]
    #expect(try await secrets.record(tokensOf: user.post("/auth/v1/verify", right)).status == 200)
  }

  private func signInByPhone(as user: Browser) async throws {
    let path = "/api/v1/auth/identities/phone"
    #expect(try await user.post(path, ["phone_number": phone]).status == 200)
    let code = try await text(1)
    #expect(try await user.post("\(path)/confirm", ["phone_number": phone, "code": code]).status == 200)
    #expect(try await gateway.post("/api/auth/request-verification", ["phone_number": phone]).status == 200)
    let next = try await text(2)
    let reply = try await gateway.post(
      "/api/auth/verify", ["phone_number": phone, "code": next, "first_name": secrets.record("Wendy-Lou")])
    #expect(secrets.record(tokensOf: reply).status == 200)
  }

  private func signInByMagicLink() async throws {
    let path = "/auth/v1/magiclink?redirect_to=myapp://signed-in"
    #expect(
      try await gateway.post(path, ["email": email, "data": ["nick": secrets.record("Wendelinchen")]]).status == 200)
    let receivedMail = try await receivedMail(2)
    #expect(try await gateway.get("/auth/v1/verify?type=email&token_hash=\(receivedMail.token)").status == 200)
    let pressed = try await gateway.with(["Content-Type": "application/x-www-form-urlencoded"])
      .send(.POST, "/auth/v1/verify", body: Data("token_hash=\(receivedMail.token)".utf8))
    #expect(pressed.status == 303)
    let url = pressed.headers.first(name: "location") ?? ""
    for part in url.split(whereSeparator: { "#&=".contains($0) }) where part.count > 20 { secrets.record(String(part)) }
  }

  private func recover() async throws {
    #expect(try await gateway.post("/auth/v1/recover", ["email": email]).status == 200)
    let receivedMail = try await receivedMail(3)
    let reply = try await gateway.post(
      "/auth/v1/verify", ["type": "recovery", "email": email, "token": receivedMail.code])
    #expect(reply.status == 200, "\(reply.text)")
    let changed = try await gateway.bearing(secrets.record(tokensOf: reply).string("access_token"))
      .send(.PUT, "/auth/v1/user", json: ["password": secrets.record("another horse, Wendeline")])
    #expect(changed.status == 200)
    #expect(try await gateway.post("/api/v1/auth/sign_in", ["email": email, "password": password]).status == 401)
  }

  private func signIn() async throws -> Browser.Reply {
    let reply = try await gateway.post(
      "/auth/v1/signin/email", ["email": email, "password": "another horse, Wendeline"])
    #expect(reply.status == 200)
    return secrets.record(tokensOf: reply)
  }

  private func refresh(_ session: Browser.Reply) async throws -> Browser.Reply {
    let token = session.string("refresh_token")
    let reply = try await gateway.post("/auth/v1/token?grant_type=refresh_token", ["refresh_token": token])
    #expect(reply.status == 200)
    return secrets.record(tokensOf: reply)
  }

  /// With another account, whose refresh token is then stolen.
  private func signInWithApple() async throws {
    let now = Date()
    let relay = secrets.record("w7k2p9@privaterelay.appleid.com")
    let token = try keys.identityToken(subject: secrets.record("001234.wendeline"), at: now, changing: ["email": relay])
    for code in ["c0de-of-wendeline", "a-code-that-apple-does-not-know"] {
      secrets.record(code)
      if code.hasPrefix("c0de") { apple.allow(code, for: token) }
      let reply = try await gateway.post(
        "/api/v1/auth/apple",
        ["identity_token": secrets.record(token), "authorization_code": code, "name": secrets.record("Wendelina Q.")])
      #expect(secrets.record(tokensOf: reply).status == 200, "\(reply.text)")
      guard code.hasPrefix("a-code") else { continue }
      let path = "/api/auth/refresh?refresh_token=\(reply.string("refresh_token"))"
      #expect(try await secrets.record(tokensOf: gateway.post(path)).status == 200)
      #expect(try await gateway.post(path).status == 401)
    }
    secrets.record("refresh+token/1")
    let back = try await gateway.post("/api/v1/auth/apple", ["identity_token": token])
    // Apple refuses the revocation at first.
    apple.behavior = .answering(503, "no time for \(relay) and refresh+token/1")
    let browser = gateway.bearing(secrets.record(tokensOf: back).string("access_token"))
    #expect(try await browser.delete("/api/v1/auth/account").status == 200)
    let asked = apple.requestCount
    try await eventually("a try") { apple.requestCount > asked }
    apple.behavior = .normal
    try await eventually("the end of it") { !apple.calls(to: "/auth/revoke").isEmpty }
  }

  /// Fills the profile, a group and a collection.
  private func writePersonalData(_ alice: Browser) async throws {
    let avatar = secrets.record("https://example.com/wendeline.jpg")
    let profile = try await alice.send(
      .PATCH, "/api/v1/users/profile", json: ["name": name, "avatar_url": avatar, "timezone": "Europe/Oslo"])
    #expect(profile.status == 200, "\(profile.text)")
    let made = try await alice.post(
      "/api/groups/", ["name": secrets.record("Quackers"), "member_phone_numbers": [secrets.record("+4790111222")]])
    #expect(made.status == 200, "\(made.text)")
    #expect(try await alice.post("/collections", ["name": secrets.record("Wendeline's marbles")]).status == 201)
    for path in ["/api/v1/users/me/export", "/api/v1/auth/sessions", "/users/me", "/api/v1/credits/balance"] {
      #expect(try await alice.get(path).status == 200, "\(path)")
    }
  }

  /// Secrets in the wrong places: malformed bodies, queries, paths and headers.
  private func sendMisplacedSecrets(_ alice: Browser, _ session: Browser.Reply) async throws {
    let (token, refresh) = (session.string("access_token"), session.string("refresh_token"))
    let auth = Browser("http://127.0.0.1:\(kith.environment["AUTH_PORT"] ?? "")")
    for browser in [gateway, auth] {
      for body in [
        #"{"email":"\#(email)","password":"\#(password)""#, #"["\#(email)"]"#, #"{"email":{"\#(email)":1}}"#,
        #"{"email":"\#(email)","password":17,"name":"\#(name)"}"#, #""\#(password)""#,
        #"{"phone_number":["\#(phone)"],"code":"\#(phone)"}"#, "\(email)\u{0}\(password)",
        #"{"refresh_token":{"a":"\#(refresh)"}}"#, #"{"id_token":"\#(token)","nonce":["\#(password)"]}"#,
        #"{"email":"\#(email)\u0000","password":"\#(password)\u0000"}"#,
      ] {
        for path in [
          "/api/v1/auth/sign_in", "/api/v1/auth/sign_up", "/api/auth/verify", "/api/v1/auth/refresh",
          "/auth/v1/token?grant_type=id_token", "/auth/v1/otp", "/api/v1/auth/apple", "/auth/v1/verify",
        ] {
          let status = try await browser.send(.POST, path, body: Data(body.utf8)).status
          #expect((400..<500).contains(status), "\(path) \(body)")
        }
      }
      let query = "email=\(email)&access_token=\(token)&password=a%20horse%20of%20Wendeline's%2C%2017%20hands"
      for path in [
        "/api/v1/auth/me?\(query)", "/nowhere/\(refresh)?\(query)", "/users/\(email)", "/users/%2B4790876543",
        "/api/v1/auth/sessions/\(token)", "/auth/v1/verify?token_hash=\(refresh)",
        "/\(name.replacing(" ", with: "%20"))",
        "/api/v1/auth/identities?issuer=\(email)", "/internal/users?known_as=\(email)",
        "/internal/users/person?identifier=\(email)", "/internal/users/\(refresh)",
      ] {
        for method in ["GET", "DELETE", "PATCH"] {
          let reply = try await browser.bearing(token).send(.init(rawValue: method), path)
          #expect(reply.status < 500, "\(method) \(path): \(reply.text)")
        }
      }
      for bearer in ["\(token)x", password, "\(token).\(token)", refresh] {
        for header in ["Bearer \(bearer)", bearer] {
          let reply = try await browser.with(["Authorization": header]).get("/api/v1/auth/me")
          #expect((400..<500).contains(reply.status), "\(reply.text)")
        }
      }
      let odd = browser.bearing(token).with(["X-Refresh-Token": password, "Idempotency-Key": email, "X-User-ID": email])
      #expect(try await odd.post("/api/v1/auth/refresh").status < 500)
    }
  }

  /// The providers of texts and mail fail and repeat the recipient in their errors.
  private func failDeliveries() async throws {
    let number = secrets.record("+4790222333")
    twilio.next(.answers(status: 503, body: "busy: \(number)"))
    twilio.next(.refuses(status: 400, code: 21211))
    twilio.next(.answers(status: 400, body: "no such number: \(number)"))
    for index in 1...2 {
      #expect(try await gateway.post("/api/auth/request-verification", ["phone_number": number]).status == 200)
      try await eventually("Twilio") { twilio.calls >= 2 + index }
    }
    let stranger = secrets.record("nobody.special@example.com")
    mail.next(.replies("451 4.2.0 <\(stranger)> later", to: "RCPT"))
    mail.next(.replies("550 5.1.1 <\(stranger)> is unknown here", to: "RCPT"))
    mail.next(.closesConnection(at: "DATA"))
    for _ in 1...2 { #expect(try await gateway.post("/auth/v1/otp", ["email": stranger]).status == 200) }
    try await eventually("failures in the log") {
      let log = kith.child.printed()
      return log.contains("postponed") && log.components(separatedBy: "given up").count > 2
    }
  }

  private func deleteAccount(_ alice: Browser) async throws {
    let told = "/internal/users/{id}/data"
    let before = kith.child.printed().components(separatedBy: told).count
    #expect(try await alice.delete("/api/v1/auth/account").status == 200)
    try await eventually("the erasure") { kith.child.printed().components(separatedBy: told).count > before }
  }

  /// The code in the `count`th text.
  private func text(_ count: Int) async throws -> String {
    try await eventually("a text") { twilio.messages.count >= count }
    return digits(twilio.messages[count - 1].text)
  }

  private func receivedMail(_ count: Int) async throws -> (code: String, token: String) {
    try await eventually("a mail") { mail.messages.filter { $0.to == [email] }.count >= count }
    let text = mail.messages.filter { $0.to == [email] }[count - 1].part("text/plain") ?? ""
    let link = text.split(whereSeparator: \.isWhitespace).first { $0.contains("token_hash=") } ?? ""
    return (digits(text), secrets.record(String(link).components(separatedBy: "token_hash=").last ?? ""))
  }

  private func digits(_ text: String) -> String {
    secrets.record(text.firstMatch(of: /\b\d{6}\b/).map { String($0.output) } ?? "")
  }
}
