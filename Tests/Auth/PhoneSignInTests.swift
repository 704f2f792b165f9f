import Database
import Foundation
import Support
import Testing

/// Sign-in with a phone number and a code.
@Suite struct PhoneSignInTests {
  private let number = "+4790123456"

  private func verify(_ auth: AuthFixture, _ code: String, name: String? = nil) async throws -> Browser.Reply {
    var body = ["phone_number": number, "code": code]
    if let name { body["first_name"] = name }
    return try await auth.gateway.post("/api/auth/verify", body)
  }

  private func requestCode(_ auth: AuthFixture) async throws -> Int {
    try await auth.gateway.post("/api/auth/request-verification", ["phone_number": number]).status
  }

  @Test(arguments: engines) func aCodeOpensASessionOnce(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      let asked = try await auth.gateway.post(
        "/api/auth/request-verification", ["phone_number": "0047 901 23-456"])
      #expect(asked.status == 200 && asked.int("expires_in") == 300)
      let code = try await auth.code(texted: number)
      #expect(try await verify(auth, code == "000000" ? "000001" : "000000").status == 400)
      let reply = try await verify(auth, code, name: "Alice")
      #expect(reply.status == 200 && reply.string("token_type") == "bearer" && reply.int("expires_in") == 900)
      let user = try #require(reply["user"] as? [String: Any])
      #expect(user["phone_number"] as? String == number && user["first_name"] as? String == "Alice")
      let me = try await auth.gateway.bearing(reply.string("access_token")).get("/api/auth/me")
      #expect(me.string("id") == user["id"] as? String)
      #expect(try await verify(auth, code).string("code") == "invalid_code")
      // Refreshing with the token in the query.
      let path = "/api/auth/refresh?refresh_token=\(reply.string("refresh_token"))"
      let refreshed = try await auth.gateway.post(path)
      #expect(refreshed.status == 200 && !refreshed.string("refresh_token").isEmpty)
      // The next sign-in is to the same account.
      #expect(try await requestCode(auth) == 200)
      let next = try await verify(auth, try await auth.code(texted: number, after: 1))
      #expect((next["user"] as? [String: Any])?["id"] as? String == user["id"] as? String)
    }
  }

  @Test(arguments: engines) func fiftyWhoVerifyOneCodeAreOneSession(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      #expect(try await requestCode(auth) == 200)
      let code = try await auth.code(texted: number)
      let statuses = try await atOnce(50) { _ in try await verify(auth, code).status }
      #expect(statuses.filter { $0 == 200 }.count == 1)
      #expect(statuses.filter { $0 == 400 }.count == 49)
      #expect(try await auth.count("session") == 1)
      #expect(try await auth.count("account") == 1)
    }
  }

  @Test(arguments: engines) func fiveWrongTriesOrFiveMinutesAreTheEndOfACode(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      #expect(try await requestCode(auth) == 200)
      let code = try await auth.code(texted: number)
      let wrong = code == "123456" ? "654321" : "123456"
      let statuses = try await atOnce(5) { _ in try await verify(auth, wrong).status }
      #expect(statuses == [400, 400, 400, 400, 400])
      #expect(try await verify(auth, code).status == 400)
      #expect(try await requestCode(auth) == 200)
      let second = try await auth.code(texted: number, after: 1)
      auth.stack.clock.advance(by: .seconds(301))
      #expect(try await verify(auth, second).status == 400)
    }
  }

  @Test(arguments: engines) func textsAreCountedInTheDatabase(engine: Engine) async throws {
    try await withAuthFixture(engine, ["SMS_PER_PREFIX_HOUR": "5"]) { auth in
      let statuses = try await atOnce(10) { _ in try await requestCode(auth) }
      #expect(statuses.filter { $0 == 200 }.count == 3 && statuses.filter { $0 == 429 }.count == 7)
      for (other, status) in [("+4790123457", 200), ("+4790123458", 200), ("+4790123459", 429), ("+4670123456", 200)] {
        let reply = try await auth.gateway.post("/api/auth/request-verification", ["phone_number": other])
        #expect(reply.status == status, "\(other)")
        if status == 429 { #expect(Int(reply.headers.first(name: "retry-after") ?? "") ?? 0 > 3000) }
      }
      try await eventually { auth.twilio.messages.count == 6 }
      auth.stack.clock.advance(by: .seconds(3601))
      #expect(try await requestCode(auth) == 200)
    }
  }

  @Test func theSecondFormAsksWithoutACode() async throws {
    try await withAuthFixture(.sqlite, ["SMS_TEST_CODES": "+15550001111:424242"]) { auth in
      let asked = try await auth.gateway.post("/api/auth/verify", ["phone_number": number, "channel": "sms"])
      #expect(asked.status == 200 && asked.int("expires_in") == 600)
      let code = try await auth.code(texted: number)
      let confirmed = try await auth.gateway.post(
        "/api/auth/verify/confirm", ["phone_number": number, "code": code])
      #expect(confirmed.status == 200)
      for wrong in ["901 23 456", "+47", "+4790123456789012", "", "alice"] {
        let reply = try await auth.gateway.post("/api/auth/request-verification", ["phone_number": wrong])
        #expect(reply.status == 422, "\(wrong)")
      }
      let fax = ["phone_number": number, "channel": "fax"]
      #expect(try await auth.gateway.post("/api/auth/verify", fax).status == 422)
      // No SMS is sent to a test number: it has a fixed code.
      let tester = ["phone_number": "+15550001111"]
      #expect(try await auth.gateway.post("/api/auth/request-verification", tester).status == 200)
      let known = try await auth.gateway.post(
        "/api/auth/verify", ["phone_number": "+15550001111", "code": "424242"])
      #expect(known.status == 200)
      #expect(auth.twilio.messages.allSatisfy { $0.to == number })
    }
  }
}
