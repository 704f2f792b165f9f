import Database
import Foundation
import Support
import Testing
import Wire

/// Ways in that are added to an account and taken away, and the sessions that it has.
@Suite struct WayTests {
  private static let path = "/api/v1/auth/identities"

  private func providers(_ browser: Browser) async throws -> [String] {
    let list = try await browser.get(Self.path)["identities"] as? [[String: Any]] ?? []
    return list.compactMap { $0["provider"] as? String }.sorted()
  }

  @Test(arguments: engines) func numberAddressAndAppleAreAddedToOneAccount(engine: Engine) async throws {
    try await withDoors(engine) { doors in
      let alice = doors.gateway.bearing(try await doors.signUp("alice").string("token"))
      #expect(try await providers(alice) == ["email"])
      #expect(try await alice.post("\(Self.path)/phone", ["phone_number": "+4790123456"]).status == 200)
      let code = try await doors.code(texted: "+4790123456")
      let phone = ["phone_number": "+4790123456", "code": code]
      // The code is hers: it signs nobody in, and adds the number to nobody else.
      let bob = doors.gateway.bearing(try await doors.signUp("bob").string("token"))
      #expect(try await bob.post("\(Self.path)/phone/confirm", phone).status == 400)
      #expect(try await doors.gateway.post("/api/auth/verify", phone).status == 400)
      #expect(try await alice.post("\(Self.path)/phone/confirm", phone).status == 200)
      #expect(try await alice.post("\(Self.path)/email", ["email": "second@example.com"]).status == 200)
      let letter = try await doors.letter(to: "second@example.com")
      let email = ["email": "second@example.com", "code": letter.code]
      #expect(try await alice.post("\(Self.path)/email/confirm", email).status == 200)
      let token = try doors.stack.apple.identityToken(at: doors.stack.clock.now)
      #expect(try await alice.post("\(Self.path)/apple", ["id_token": token]).status == 200)
      #expect(try await providers(alice).filter { $0 != "email" } == ["apple", "phone"])
      // Whichever way she comes, it is her.
      let id = try await alice.get("/api/v1/auth/me").string("id")
      let apple = try await doors.gateway.post("/api/v1/auth/apple", ["identity_token": token])
      #expect((apple["user"] as? [String: Any])?["uuid"] as? String == id)
      _ = try await doors.gateway.post("/api/auth/request-verification", ["phone_number": "+4790123456"])
      let next = try await doors.code(texted: "+4790123456", after: 1)
      let called = try await doors.gateway.post(
        "/api/auth/verify", ["phone_number": "+4790123456", "code": next])
      #expect((called["user"] as? [String: Any])?["id"] as? String == id)
    }
  }

  @Test(arguments: engines) func whatIsAnothersIsRefusedAndNothingIsMerged(engine: Engine) async throws {
    try await withDoors(engine) { doors in
      let token = try doors.stack.apple.identityToken(at: doors.stack.clock.now)
      _ = try await doors.gateway.post("/api/v1/auth/apple", ["identity_token": token])
      let alice = doors.gateway.bearing(try await doors.signUp("alice").string("token"))
      let reply = try await alice.post("\(Self.path)/apple", ["id_token": token])
      #expect(reply.status == 409 && reply.string("code") == "identity_taken")
      #expect(try await providers(alice) == ["email"])
      // Both ask for the same number; the first to answer has it.
      let bob = doors.gateway.bearing(try await doors.signUp("bob").string("token"))
      var codes: [String] = []
      for (index, browser) in [alice, bob].enumerated() {
        #expect(try await browser.post("\(Self.path)/phone", ["phone_number": "+4790123456"]).status == 200)
        codes.append(try await doors.code(texted: "+4790123456", after: index))
      }
      let statuses = try await atOnce(2) { [codes] index in
        try await [alice, bob][index].post(
          "\(Self.path)/phone/confirm", ["phone_number": "+4790123456", "code": codes[index]]
        ).status
      }
      #expect(statuses.sorted() == [200, 409])
    }
  }

  @Test(arguments: engines) func theLastWayInStays(engine: Engine) async throws {
    try await withDoors(engine) { doors in
      let alice = doors.gateway.bearing(try await doors.signUp("alice").string("token"))
      let only = try await alice.delete("\(Self.path)/email")
      #expect(only.status == 409 && only.string("code") == "last_identity", "\(only.text)")
      #expect(try await alice.delete("\(Self.path)/phone").status == 404)
      let token = try doors.stack.apple.identityToken(at: doors.stack.clock.now, changing: ["email": nil])
      #expect(try await alice.post("\(Self.path)/apple", ["id_token": token]).status == 200)
      // Two at once, each of which leaves the other.
      let statuses = try await atOnce(8) { index in
        try await alice.delete("\(Self.path)/\(index % 2 == 0 ? "email" : "apple")").status
      }
      #expect(statuses.filter { $0 == 204 }.count == 1)
      #expect(try await providers(alice).count == 1)
    }
  }

  @Test(arguments: engines) func sessionsAreListedAndEndedOneByOne(engine: Engine) async throws {
    try await withDoors(engine) { doors in
      _ = try await doors.signUp("alice")
      func signIn(_ device: String) async throws -> Browser {
        let reply = try await doors.gateway.with(["User-Agent": device]).post(
          "/api/v1/auth/sign_in", ["email": "alice@example.com", "password": "correct horse"])
        return doors.gateway.bearing(reply.string("token"))
      }
      let (phone, tablet) = (try await signIn("Kith/1.0 iPhone"), try await signIn("Kith/1.0 iPad"))
      let sessions = try #require(try await phone.get("/api/v1/auth/sessions")["sessions"] as? [[String: Any]])
      #expect(sessions.count == 3 && sessions.filter { $0["current"] as? Bool == true }.count == 1)
      let other = try #require(sessions.first { $0["device"] as? String == "Kith/1.0 iPad" })
      let path = "/api/v1/auth/sessions/\(other["id"] as? String ?? "")"
      let bob = doors.gateway.bearing(try await doors.signUp("bob").string("token"))
      #expect(try await bob.delete(path).status == 404)
      #expect(try await tablet.get("/profile").status == 200)
      #expect(try await phone.delete(path).status == 204)
      #expect(try await tablet.get("/profile").status == 401)
      #expect(try await phone.delete(path).status == 404)
      #expect(try await phone.delete("/api/v1/auth/sessions").int("ended") == 1)
      #expect(try await phone.get("/profile").status == 200)
    }
  }

  @Test(arguments: engines) func aSessionThatIsUsedIsSeenToTheHour(engine: Engine) async throws {
    try await withDoors(engine) { doors in
      // Its token lasts for thirty days, so that nothing is ever refreshed.
      let alice = doors.gateway.bearing(try await doors.signUp("alice").string("token"))
      func lastSeen() async throws -> Date? {
        let list = try await alice.get("/api/v1/auth/sessions")["sessions"] as? [[String: Any]]
        return (list?.first?["last_seen_at"] as? String).flatMap { Instant.parse($0) }
      }
      let opened = try #require(try await lastSeen())
      doors.stack.clock.advance(by: .seconds(1800))
      _ = try await alice.get("/profile")
      #expect(try await lastSeen() == opened)
      doors.stack.clock.advance(by: .seconds(5 * 86_400))
      _ = try await alice.get("/profile")
      let later = try #require(try await lastSeen())
      #expect(later.timeIntervalSince(opened) >= 5 * 86_400)
      doors.stack.clock.advance(by: .seconds(1800))
      _ = try await alice.get("/profile")
      #expect(try await lastSeen() == later)
    }
  }

  @Test(arguments: engines) func whoseTokenWasStolenCanReadIt(engine: Engine) async throws {
    try await withDoors(engine) { doors in
      let alice = try await doors.stack.signIn("alice")
      let path = "/api/v1/auth/refresh"
      #expect(try await doors.gateway.post(path, ["refresh_token": alice.refresh]).status == 200)
      #expect(try await doors.gateway.post(path, ["refresh_token": alice.refresh]).status == 401)
      #expect(try await alice.browser.get("/api/v1/auth/me").status == 401)
      let back = try await doors.stack.signIn("alice")
      let sessions = try #require(try await back.browser.get("/api/v1/auth/sessions")["sessions"] as? [[String: Any]])
      #expect(sessions.compactMap { $0["end_reason"] as? String } == ["refresh_token_reused"])
    }
  }
}
