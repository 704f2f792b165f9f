import Database
import Foundation
import Support
import Testing
import Wire

/// Invites, end to end: all services, real sockets, through the gateway.
@Suite struct InviteStoryTests {
  /// The owner shares a collection; the guest opens the link before signing in, signs in with an external issuer,
  /// accepts and gets a higher role.
  @Test(arguments: engines) func aCollectionIsSharedWithSomebodyWhoSignsInElsewhere(engine: Engine) async throws {
    try await withIssuer { issuer in
      try await withStack(engine, ["OIDC_ISSUERS": "\(issuer.name);aud=kith"]) { stack in
        func person(_ name: String) throws -> Browser {
          let token = try issuer.token(
            "user_\(name)", at: stack.clock.now,
            changing: ["email": "\(name)@example.com", "email_verified": true, "name": name])
          return stack.gateway.bearing(token)
        }
        let (owner, guest) = (try person("owner"), try person("guest"))
        let made = try await owner.post("/collections", ["name": "Modern Marbles"])
        let collection = try #require((made["data"] as? [String: Any])?["id"] as? String)
        // 1 and 2: the owner taps Share.
        let shared = try await owner.post("/collections/\(collection)/invites", ["role": "VIEW_ONLY"])
        #expect(shared.status == 201)
        let invite = try #require(shared["data"] as? [String: Any])
        let deepLink = try #require(invite["deepLink"] as? String)
        // 3: the link opens the app before anybody has signed in.
        let token = try #require(deepLink.split(separator: "/").last)
        let seen = try await stack.gateway.get("/invites/resolve?token=\(token)")
        let shown = try #require(seen["data"] as? [String: Any])
        #expect(shown["status"] as? String == "PENDING")
        #expect((shown["inviter"] as? [String: Any])?["email"] as? String == "owner@example.com")
        #expect(try await stack.gateway.get("/invite/\(token)").text.contains("owner invites you"))
        // 4: signed in, the guest accepts.
        let id = try #require(shown["id"] as? String)
        #expect(try await guest.get("/collections/\(collection)").status == 404)
        let accepted = try await guest.post("/invites/\(id)/accept")
        #expect(accepted.status == 200)
        #expect(try await guest.get("/collections/\(collection)").status == 200)
        #expect(try await guest.post("/invites/\(id)/accept").status == 409)
        // 5: from here on the owner manages roles.
        let members = try await owner.get("/collections/\(collection)/members")["data"] as? [[String: Any]]
        let member = try #require(members?.first { $0["role"] as? String == "VIEW_ONLY" }?["id"] as? String)
        let promoted = try await owner.send(
          .PATCH, "/collections/\(collection)/members/\(member)", json: ["role": "EDITOR"])
        #expect(promoted.status == 200)
      }
    }
  }

  /// Contacts are looked up; one is added, another gets a text, opens the link, signs in by phone and joins.
  @Test(arguments: engines) func aGroupIsFilledFromAPhonesContacts(engine: Engine) async throws {
    try await withTwilio { twilio in
      let settings = twilio.settings.merging(["SMS_PER_ADDRESS_HOUR": "1000"]) { $1 }
      try await withStack(engine, settings) { stack in
        func signIn(_ number: String, _ name: String) async throws -> SignedInUser {
          _ = try await stack.gateway.post("/api/auth/request-verification", ["phone_number": number])
          func codes() -> [String] {
            twilio.messages.filter { $0.to == number && $0.text.contains("is your code") }.map(\.text)
          }
          try await eventually("a code") { !codes().isEmpty }
          let code = codes().last?.firstMatch(of: /\b\d{6}\b/).map { String($0.output) } ?? ""
          let reply = try await stack.gateway.post(
            "/api/auth/verify", ["phone_number": number, "code": code, "first_name": name])
          return try await SignedInUser(reply, through: stack.gateway)
        }
        let (alice, bob) = (try await signIn("+4790200001", "Alice"), try await signIn("+4790200002", "Bob"))
        let group = try await alice.browser.post("/api/groups", ["name": "Family"]).string("id")
        // Contacts with the app are returned with their ids, the others are to be invited.
        let contacts = try await alice.browser.post(
          "/api/invites/check-users", ["phone_numbers": ["+4790200002", "+4790200003"]])
        let known = try #require((contacts["existing"] as? [[String: String]])?.first)
        #expect(known["user_id"] == bob.id.description && contacts["needs_invite"] as? [String] == ["+4790200003"])
        let sent = try await alice.browser.post(
          "/api/invites/send",
          ["group_id": group, "phone_numbers": ["+4790200003"], "existing_users": [known]])
        #expect(sent.status == 200 && sent.int("added_members") == 1)
        #expect(try await bob.browser.get("/api/groups").list.count == 1)
        // The text arrives; its code has a page that opens the app.
        try await eventually("the text") { twilio.messages.contains { $0.to == "+4790200003" } }
        let text = twilio.messages.first { $0.to == "+4790200003" }?.text ?? ""
        let code = try #require(text.firstMatch(of: /Invite code: ([A-Z0-9]{6})/).map { String($0.output.1) })
        #expect(text.hasPrefix("Alice invited you to share daily photos with \"Family\""))
        #expect(try await stack.gateway.get("/i/\(code)").text.contains("daily://invite?code=\(code)"))
        // Carol is new: she signs in by phone and joins by the code.
        let carol = try await signIn("+4790200003", "Carol")
        let redeemed = try await carol.browser.post("/api/invites/redeem/\(code)")
        #expect(redeemed.json as? [String: String] == ["group_id": group, "group_name": "Family"])
        let members = try await carol.browser.get("/api/groups").list.first?["members"] as? [[String: Any]]
        #expect(members?.map { $0["first_name"] as? String } == ["Alice", "Bob", "Carol"])
        #expect(try await bob.browser.post("/api/invites/redeem/\(code)").status == 404)
      }
    }
  }
}
