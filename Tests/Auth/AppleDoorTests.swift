import Database
import Foundation
import Support
import Testing

/// Every door that takes Apple's word: what is granted there is kept, and given back when Apple is taken away.
@Suite struct AppleDoorTests {
  private enum Door: String, CaseIterable {
    case main = "/api/v1/auth/apple"
    case signIn = "/auth/v1/signin/apple"
    case token = "/auth/v1/token?grant_type=id_token"
    case linking = "/api/v1/auth/identities/apple"
  }

  private static let identities = "/api/v1/auth/identities"

  /// With a code that Apple knows.
  private func come(
    _ doors: Doors, _ apple: AppleServer, _ door: Door = .linking, code: String = "code",
    as browser: Browser? = nil, changing changes: [String: (any Sendable)?] = [:], nonce: String? = nil
  ) async throws -> Browser.Reply {
    let token = try doors.stack.apple.identityToken(at: doors.stack.clock.now, changing: changes)
    apple.allow(code, for: token)
    var body = ["id_token": token, "authorization_code": code]
    body["nonce"] = nonce
    return try await (browser ?? doors.gateway).post(door.rawValue, body)
  }

  private func withApple(
    _ engine: Engine, _ body: (Doors, AppleServer) async throws -> Void
  ) async throws {
    try await withAppleServer { apple in
      try await withDoors(engine, apple.settings) { doors in try await body(doors, apple) }
    }
  }

  private func signedUp(_ doors: Doors) async throws -> Browser {
    doors.gateway.bearing(try await doors.signUp("alice").string("token"))
  }

  @Test(arguments: engines) func whatIsGrantedIsKeptAtEveryDoor(engine: Engine) async throws {
    try await withApple(engine) { doors, apple in
      let alice = try await signedUp(doors)
      for (index, door) in Door.allCases.enumerated() {
        let person = "person \(index)"
        let told: [String: (any Sendable)?] = ["sub": person, "email": nil, "aud": "com.example.other"]
        // A token with somebody else's nonce is refused before its code is looked at.
        let asked = apple.asked
        let wrong = try await come(doors, apple, door, as: alice, changing: told, nonce: "not in the token")
        #expect(wrong.status == 401 && apple.asked == asked, "\(door)")
        let reply = try await come(doors, apple, door, as: alice, changing: told)
        #expect(reply.status == 200, "\(door): \(reply.text)")
        let kept = "apple_token where subject = '\(person)' and app = 'com.example.other'"
        #expect(try await doors.count(kept) == 1, "\(door)")
        #expect(apple.calls(to: "/auth/token").last?.form["client_id"] == "com.example.other")
      }
      #expect(try await doors.count("apple_token") == 4)
    }
  }

  @Test(arguments: engines) func unlinkingGivesItBack(engine: Engine) async throws {
    try await withApple(engine) { doors, apple in
      let alice = try await signedUp(doors)
      #expect(try await come(doors, apple, as: alice).status == 200)
      #expect(
        try await come(doors, apple, code: "other", as: alice, changing: ["aud": "com.example.other"]).status == 200)
      #expect(try await doors.count("apple_token") == 2)
      #expect(try await alice.delete("\(Self.identities)/apple").status == 204)
      try await eventually("the end") { try await doors.count("apple_token") == 0 }
      #expect(
        apple.calls(to: "/auth/revoke").map { $0.form["token"] } == ["refresh+token/1", "refresh+token/2"])
      // The relay's address went with it, hers did not; she is still signed in.
      let list = try await alice.get(Self.identities)["identities"] as? [[String: Any]] ?? []
      #expect(list.compactMap { $0["email"] as? String } == ["alice@example.com"])
      // Without a grant there is nothing to give back.
      #expect(try await alice.post("\(Self.identities)/apple", ["id_token": token(doors)]).status == 200)
      #expect(try await alice.delete("\(Self.identities)/apple").status == 204)
      #expect(try await doors.count("outbox where kind = 'apple_unlinked'") == 1)
    }
  }

  private func token(_ doors: Doors) throws -> String {
    try doors.stack.apple.identityToken(at: doors.stack.clock.now)
  }

  @Test(arguments: engines) func appleMayBeAwayMeanwhileAndWhatIsGrantedAnewStays(engine: Engine) async throws {
    try await withApple(engine) { doors, apple in
      let alice = try await signedUp(doors)
      for code in ["com.example.kith", "com.example.other"] {
        #expect(try await come(doors, apple, code: code, as: alice, changing: ["aud": code]).status == 200)
      }
      apple.mood = .answering(503, "")
      #expect(try await alice.delete("\(Self.identities)/apple").status == 204)
      try await eventually("tries") {
        doors.stack.clock.advance(by: .seconds(5))
        return try await doors.count("outbox where kind = 'apple_unlinked' and tries > 1") == 1
      }
      #expect(try await doors.count("apple_token") == 2)
      // She adds Apple again before the old grant of the same app was given back: that one is still hers.
      apple.mood = .well
      #expect(try await come(doors, apple, code: "again", as: alice).status == 200)
      try await eventually("the end", passing: .seconds(20), on: doors.stack.clock) {
        try await doors.count("outbox where lease is not null")
      } _: {
        try await doors.count("outbox where kind = 'apple_unlinked' and outcome = 'done'") == 1
      }
      #expect(apple.calls(to: "/auth/revoke").map { $0.form["client_id"] }.contains("com.example.other"))
      #expect(try await doors.count("apple_token where app = 'com.example.other'") == 0)
      #expect(apple.calls(to: "/auth/revoke").map { $0.form["token"] }.contains("refresh+token/3") == false)
      #expect(try await doors.count("apple_token where app = 'com.example.kith'") == 1)
    }
  }

  @Test(arguments: engines) func theRelayIsNoWayInWithoutApple(engine: Engine) async throws {
    try await withApple(engine) { doors, apple in
      let reply = try await come(doors, apple, .main)
      let alice = doors.gateway.bearing(reply.string("access_token"))
      let only = try await alice.delete("\(Self.identities)/apple")
      #expect(only.status == 409 && only.string("code") == "last_identity")
      #expect(try await doors.count("apple_token") == 1)
      #expect(try await doors.count("outbox") == 0)
    }
  }
}
