import Database
import Foundation
import Support
import Testing
import Wire

/// Invites to groups by text message.
@Suite struct TextInviteTests {
  @Test(arguments: engines) func aTextNamesSenderGroupAppAndCode(engine: Engine) async throws {
    try await withTextingStack(engine) { texting in
      let alice = try await texting.signIn("Alice Berg", number(1))
      let group = try await alice.group("The Cabin")
      let sent = try await alice.browser.post(
        "/api/invites/send",
        [
          "group_id": group, "phone_numbers": [number(7), number(8), number(7)], "existing_users": [[String: String]](),
        ])
      #expect(sent.status == 200 && sent.int("added_members") == 0)
      let invites = try #require(sent["sent_invites"] as? [[String: String]])
      #expect(invites.map { $0["phone_number"] } == [number(7), number(8)])
      let code = try #require(invites.first?["invite_code"])
      #expect(code.wholeMatch(of: /[A-Z0-9]{6}/) != nil)
      try await eventually("a text") { texting.texts(to: number(7)).count == 1 }
      #expect(
        texting.texts(to: number(7)) == [
          """
          Alice Berg invited you to share daily photos with "The Cabin" on Dayly.

          Download: https://apps.apple.com/app/id42
          Invite code: \(code)
          """
        ])
      let pending = try await alice.browser.get("/api/invites/pending/\(group)/")
      let rows = try #require(pending["invites"] as? [[String: Any]])
      #expect(Set(rows.compactMap { $0["phone_number"] as? String }) == [number(7), number(8)])
      #expect(rows.allSatisfy { ($0["profiles"] as? [String: String]) == ["first_name": "Alice Berg"] })
      #expect(rows.allSatisfy { ($0["invited_by"] as? String) == alice.id.description })
      #expect((rows[0]["expires_at"] as? String)?.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/) != nil)
      // At most one text a day for a number and a group.
      #expect(try await texting.invite([number(7)], to: group, by: alice).isEmpty)
      let other = try await alice.group("Another")
      #expect(try await texting.invite([number(7)], to: other, by: alice).count == 1)
      texting.stack.clock.advance(by: .seconds(86_401))
      let later = try await texting.signIn("Alice Berg", number(1))
      #expect(try await texting.invite([number(7)], to: group, by: later).count == 1)
    }
  }

  @Test(arguments: engines) func aCodeLetsOnePersonInByAnyOfThreeWays(engine: Engine) async throws {
    try await withTextingStack(engine) { texting in
      let alice = try await texting.signIn("Alice", number(1))
      let group = try await alice.group("The Cabin")
      let codes = try await texting.invite([number(2), number(3), number(4), number(5)], to: group, by: alice)
      let guests = try await concurrently(5) { try await texting.stack.signIn("guest\($0)") }
      let expected = ["group_id": group, "group_name": "The Cabin"]
      let byPath = try await guests[0].browser.post("/api/invites/redeem/\(codes[0].lowercased())/")
      #expect(byPath.status == 200 && byPath.json as? [String: String] == expected)
      let byQuery = try await guests[1].browser.post("/api/invites/redeem?invite_code=\(codes[1])")
      #expect(byQuery.status == 200 && byQuery.json as? [String: String] == expected)
      let byBody = try await guests[2].browser.post("/api/invites/redeem", ["invite_code": " \(codes[2]) "])
      #expect(byBody.status == 200 && byBody.json as? [String: String] == expected)
      // Used, wrong, or malformed.
      for code in [codes[0], "ZZZZZZ", "x", "000000000"] {
        let refused = try await guests[3].browser.post("/api/invites/redeem/\(code)")
        #expect(refused.status == 404 && refused.string("detail") == "Invalid or expired invite code", "\(code)")
      }
      #expect(try await guests[3].browser.post("/api/invites/redeem").status == 422)
      #expect(try await texting.stack.gateway.post("/api/invites/redeem/\(codes[3])").status == 401)
      // The refusal of a member leaves the code for somebody else.
      let member = try await guests[0].browser.post("/api/invites/redeem/\(codes[3])")
      #expect(member.status == 400 && member.string("detail") == "Already a member of this group")
      // A user who has left can join again.
      #expect(try await guests[0].browser.delete("/api/groups/\(group)").status == 200)
      #expect(try await guests[0].browser.post("/api/invites/redeem/\(codes[3])").status == 200)
      #expect(try await guests[0].browser.get("/api/groups").list.count == 1)
      let pending = try await guests[1].browser.get("/api/invites/pending/\(group)")
      #expect((pending["invites"] as? [[String: Any]])?.isEmpty == true)
      let late = try await texting.invite([number(9)], to: group, by: alice)
      texting.stack.clock.advance(by: .seconds(7 * 86_400))
      let again = try await texting.signIn("Late", number(77))
      #expect(try await again.browser.post("/api/invites/redeem/\(late[0])").status == 404)
    }
  }

  @Test(arguments: engines) func onlyMembersInviteAndPeopleAreWhoTheyAreSaidToBe(engine: Engine) async throws {
    try await withTextingStack(engine) { texting in
      let (alice, bob) = (try await texting.signIn("Alice", number(1)), try await texting.signIn("Bob", number(2)))
      let carol = try await texting.signIn("Carol", number(3))
      let group = try await alice.group()
      func send(
        _ existing: [[String: String]], by user: SignedInUser, to group: String
      ) async throws -> Browser.Reply {
        try await user.browser.post(
          "/api/invites/send", ["group_id": group, "phone_numbers": [String](), "existing_users": existing])
      }
      for (user, id) in [(bob, group), (alice, UUID().uuidString), (alice, "x")] {
        let refused = try await send([], by: user, to: id)
        #expect(refused.status == 403 && refused.string("detail") == "Not a member of this group")
      }
      #expect(try await bob.browser.get("/api/invites/pending/\(group)").status == 403)
      let wrong: [[String: String]] = [
        ["user_id": UUID().uuidString], ["user_id": "x"],
        ["user_id": carol.id.description, "phone_number": number(2)],
        ["user_id": carol.id.description, "phone_number": "x"],
      ]
      for named in wrong {
        let bobByNumber = ["user_id": bob.id.description, "phone_number": number(2)]
        let refused = try await send([bobByNumber, named], by: alice, to: group)
        #expect(refused.status == 422, "\(named)")
      }
      #expect(try await bob.browser.get("/api/groups").list.isEmpty)
      let added = try await send(
        [
          ["user_id": bob.id.description, "phone_number": number(2)], ["user_id": alice.id.description],
          ["user_id": carol.id.description, "phone_number": "+47 90 10 00 03"],
        ], by: alice, to: group)
      #expect(added.status == 200 && added.int("added_members") == 2)
      #expect(try await bob.browser.get("/api/groups").list.count == 1)
      for body in [
        ["group_id": group, "phone_numbers": ["12"]], ["group_id": group, "phone_numbers": ["+0123"]],
        ["group_id": group], ["phone_numbers": [number(5)]],
      ] as [[String: any Sendable]] {
        #expect(try await alice.browser.post("/api/invites/send", body).status == 422, "\(body)")
      }
    }
  }

  @Test(arguments: engines) func contactsAreFoundUnlessTheyDoNotWantToBe(engine: Engine) async throws {
    try await withTextingStack(engine, ["CONTACT_CHECKS_PER_DAY": "3000"]) { texting in
      let alice = try await texting.signIn("Alice", number(1))
      let bob = try await texting.signIn("Bob Hansen", number(2))
      let hidden = try await texting.signIn("Carol", number(3))
      #expect(
        try await hidden.browser.send(.PATCH, "/api/v1/users/profile", json: ["discoverable": false]).status == 200)
      let asked = [number(3), number(2), "+99999", number(9), number(2)]
      let reply = try await alice.browser.post("/api/invites/check-users", ["phone_numbers": asked])
      #expect(reply.status == 200)
      for name in ["existing", "existing_users"] {
        #expect(
          reply[name] as? [[String: String]]
            == [["phone_number": number(2), "user_id": bob.id.description, "first_name": "Bob Hansen"]])
      }
      #expect(reply["needs_invite"] as? [String] == [number(3), "+99999", number(9)])
      for numbers in [["4790100002"], ["+0790100002"], [""], ["+47 901 00 002"]] {
        #expect(
          try await alice.browser.post("/api/invites/check-users", ["phone_numbers": numbers]).status == 422)
      }
      func check(_ numbers: Range<Int>, by user: SignedInUser) async throws -> Browser.Reply {
        try await user.browser.post("/api/invites/check-users", ["phone_numbers": numbers.map { number($0) }])
      }
      #expect(try await check(0..<2001, by: alice).status == 422)
      #expect(try await check(0..<2000, by: alice).status == 200)
      let last = try await check(2000..<4000, by: alice)
      #expect(last.status == 429 && last.headers.contains(name: "retry-after"))
      // A number counts once in thirty days, and refused requests do not count. Two of the three numbers were counted
      // before.
      #expect(try await check(0..<2000, by: alice).status == 200)
      #expect(try await check(2000..<2999, by: alice).status == 200)
      #expect(try await check(1500..<2999, by: alice).status == 200)
      #expect(try await check(2999..<3001, by: alice).status == 429)
      #expect(try await check(2000..<4000, by: bob).status == 200)
      texting.stack.clock.advance(by: .seconds(86_401))
      let later = try await texting.signIn("Alice", number(1))
      #expect(try await check(0..<2000, by: later).status == 200)
      #expect(try await check(3000..<5000, by: later).status == 200)
      texting.stack.clock.advance(by: .seconds(29 * 86_400))
      let latest = try await texting.signIn("Alice", number(1))
      #expect(try await check(0..<2000, by: latest).status == 200)
      #expect(try await check(5000..<7000, by: latest).status == 429)
    }
  }

  /// Concurrent calls with the same numbers count each of them once.
  @Test(arguments: engines) func aNumberThatIsLookedUpTwiceAtOnceCountsOnce(engine: Engine) async throws {
    let settings = ["CONTACT_CHECKS_PER_DAY": "300", "CONTACT_CHECKS_PER_ADDRESS_DAY": "301"]
    try await withTextingStack(engine, settings) { texting in
      let (alice, bob) = (try await texting.stack.signIn("alice"), try await texting.stack.signIn("bob"))
      @Sendable func check(_ numbers: [String], by user: SignedInUser) async throws -> Int {
        try await user.browser.post("/api/invites/check-users", ["phone_numbers": numbers]).status
      }
      let statuses = try await atOnce(10) { _ in
        try await check((0..<300).map { number($0) }.shuffled(), by: alice)
      }
      #expect(statuses.allSatisfy { $0 == 200 })
      #expect(try await check([number(300)], by: alice) == 429)
      // The limit of one address holds for all of its users.
      #expect(try await check([number(300)], by: bob) == 200)
      #expect(try await check([number(301)], by: bob) == 429)
      let database = try await texting.stack.testDatabase.open("invites", [])
      let kept = try await database.read { db in "\(try db.rows("select * from checked_number"))" }
      await database.close()
      #expect(!kept.contains(number(0)) && !kept.contains(number(0).dropFirst()))
    }
  }

  @Test(arguments: engines) func aKeySendsAndRedeemsOnce(engine: Engine) async throws {
    try await withTextingStack(engine) { texting in
      let (alice, bob) = (try await texting.stack.signIn("alice"), try await texting.stack.signIn("bob"))
      let carol = try await texting.stack.signIn("carol")
      try await texting.stack.shareCollection(alice, with: [carol])
      let group = try await alice.group()
      let sender = alice.browser.with(["Idempotency-Key": "one"])
      let body: [String: any Sendable] = [
        "group_id": group, "phone_numbers": [number(5)], "existing_users": [["user_id": carol.id.description]],
      ]
      let first = try await sender.post("/api/invites/send", body)
      let again = try await sender.post("/api/invites/send", body)
      #expect(first.status == 200 && first.body == again.body && first.int("added_members") == 1)
      let code = (first["sent_invites"] as? [[String: String]])?.first?["invite_code"] ?? ""
      // Before the code is used: the text of an invite that has been used is no longer sent.
      try await eventually("a text") { texting.texts(to: number(5)).count == 1 }
      let guest = bob.browser.with(["Idempotency-Key": "two"])
      let redeemed = try await guest.post("/api/invites/redeem/\(code)")
      let repeated = try await guest.post("/api/invites/redeem/\(code)")
      #expect(redeemed.status == 200 && redeemed.body == repeated.body)
      #expect(try await bob.browser.post("/api/invites/redeem/\(code)").status == 404)
      #expect(texting.twilio.messages.count == 1)
    }
  }

  /// A user who cannot join does not block the code for others, not even briefly.
  @Test(arguments: engines) func ofMembersAndGuestsWhoRedeemOneCodeAGuestIsIn(engine: Engine) async throws {
    try await withTextingStack(engine) { texting in
      let alice = try await texting.stack.signIn("alice")
      let crowd = try await concurrently(20) { try await texting.stack.signIn("person\($0)") }
      let group = try await alice.group()
      try await texting.stack.shareCollection(alice, with: Array(crowd.prefix(8)))
      let existing = crowd.prefix(8).map { ["user_id": $0.id.description] }
      let code = try await texting.invite([number(5)], to: group, by: alice)[0]
      let added = try await alice.browser.post(
        "/api/invites/send", ["group_id": group, "phone_numbers": [String](), "existing_users": existing])
      #expect(added.int("added_members") == 8)
      let replies = try await concurrently(20) { try await crowd[$0].browser.post("/api/invites/redeem/\(code)") }
      // A guest may have used the code before.
      #expect(replies.prefix(8).allSatisfy { $0.string("code") == "already_a_member" || $0.status == 404 })
      #expect(replies.suffix(12).count { $0.status == 200 } == 1)
      #expect(replies.suffix(12).count { $0.status == 404 } == 11)
    }
  }

  @Test(arguments: engines) func fiftyWhoRedeemOneCodeAreOne(engine: Engine) async throws {
    try await withTextingStack(engine) { texting in
      let alice = try await texting.stack.signIn("alice")
      let guests = try await atOnce(50) { try await texting.stack.signIn("guest\($0)") }
      let code = try await texting.invite([number(5)], to: try await alice.group(), by: alice)[0]
      let statuses = try await atOnce(50) {
        try await guests[$0].browser.post("/api/invites/redeem/\(code)").status
      }
      #expect(statuses.count { $0 == 200 } == 1)
      #expect(statuses.count { $0 == 404 } == 49)
      #expect(try await alice.browser.get("/api/groups").list.first?["member_count"] as? Int == 2)
      let same = try await texting.invite([number(6)], to: try await alice.group("Two"), by: alice)[0]
      let again = try await atOnce(20) { _ in try await guests[0].browser.post("/api/invites/redeem/\(same)").status }
      #expect(again.count { $0 == 200 } == 1)
      #expect(again.count { $0 == 404 } == 19)
    }
  }
}
