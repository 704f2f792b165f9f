import Clients
import Database
import Foundation
import Support
import Testing
import Wire

/// Numbers without an account in the request for a new group are invited by text.
@Suite struct GroupTextTests {
  @Test(arguments: engines) func whoHasNoAccountIsTextedWhenAGroupIsMade(engine: Engine) async throws {
    try await withTextingStack(engine) { texting in
      let (alice, bob) = (try await texting.signIn("Alice", number(1)), try await texting.signIn("Bob", number(2)))
      let before = texting.twilio.messages.count
      let named: [String: any Sendable] = [
        "name": "The Cabin", "member_phone_numbers": [number(1), number(2), number(7), number(8)],
      ]
      let maker = alice.browser.with(["Idempotency-Key": "cabin"])
      let made = try await maker.post("/api/groups", named)
      #expect(made.status == 200 && Set((made.json as? [String: Any] ?? [:]).keys) == ["id", "name"])
      #expect(try await maker.post("/api/groups", named).body == made.body)
      try await eventually("two texts") { texting.twilio.messages.count == before + 2 }
      #expect(try await bob.browser.get("/api/groups").list.first?["member_count"] as? Int == 2)
      let text = try #require(texting.texts(to: number(7)).last)
      #expect(text.contains("invited you to share daily photos with \"The Cabin\" on Dayly."))
      let code = try #require(text.firstMatch(of: /Invite code: ([A-Z0-9]{6})/).map { String($0.output.1) })
      let carol = try await texting.signIn("Carol", number(7))
      #expect(try await carol.browser.post("/api/invites/redeem/\(code)").status == 200)
      // It counts like an invite of `send`: a second one within a day is skipped.
      let group = made.string("id")
      #expect(try await texting.invite([number(8)], to: group, by: alice).isEmpty)
      let pending = try await bob.browser.get("/api/invites/pending/\(group)")["invites"] as? [[String: Any]]
      #expect(pending?.count == 1)
    }
  }

  /// A user who does not want to be found gets the text that an unknown number gets.
  @Test(arguments: engines) func aHiddenNumberIsTextedLikeThatOfNobody(engine: Engine) async throws {
    try await withTextingStack(engine) { texting in
      let (alice, bob) = (try await texting.signIn("Alice", number(1)), try await texting.signIn("Bob", number(2)))
      #expect(
        try await bob.browser.send(.PATCH, "/api/v1/users/profile", json: ["discoverable": false]).status == 200)
      let before = texting.texts(to: number(2)).count
      let made = try await alice.browser.post(
        "/api/groups", ["name": "Ours", "member_phone_numbers": [number(2)]])
      #expect(made.status == 200)
      try await eventually("a text") { texting.texts(to: number(2)).count == before + 1 }
      #expect(try await bob.browser.get("/api/groups").list.isEmpty)
    }
  }

  @Test(arguments: engines) func aGroupsNameIsNoLinkInItsTexts(engine: Engine) async throws {
    try await withTextingStack(engine) { texting in
      let alice = try await texting.signIn("Alice evil.com", number(1))
      let group = try await alice.group("Prize: evil.example/x")
      _ = try await texting.invite([number(7)], to: group, by: alice)
      try await eventually("a text") { texting.texts(to: number(7)).count == 1 }
      let text = texting.texts(to: number(7))[0]
      #expect(!text.contains("evil.com") && !text.contains("evil.example"))
      #expect(text.contains("with \"Prize: evil. example/x\" on Dayly."))
    }
  }

  @Test(arguments: engines) func numbersNamedFromOneAddressAreRationed(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      func make(_ user: SignedInUser) async throws -> Int {
        try await user.browser.post("/api/groups", ["name": "Ours", "member_phone_numbers": [number(7)]]).status
      }
      #expect(try await make(alice) == 200)
      let database = try await stack.testDatabase.open("groups", [])
      let full = try await database.write { db in
        try db.change("update quota set taken = 1000 where name = 'numbers named here'")
      }
      #expect(full == 1)
      await database.close()
      #expect(try await make(bob) == 429)
      #expect(try await bob.browser.post("/api/groups", ["name": "Ours"]).status == 200)
    }
  }

  /// An older process that does not have the route has not sent anything.
  @Test(arguments: engines) func aTextOutlivesAnOlderProcess(engine: Engine) async throws {
    try await withTextingStack(engine) { texting in
      let stack = texting.stack
      let alice = try await texting.signIn("Alice", number(1))
      let serviceAddresses = stack.dependencies.serviceAddresses
      serviceAddresses.set(.invites, to: stack.credits.base)
      let made = try await alice.browser.post(
        "/api/groups", ["name": "The Cabin", "member_phone_numbers": [number(7)]])
      #expect(made.status == 200)
      let tried: SQL = "outbox where kind = 'text_to_group' and tries > 0 and lease is null and due_at is not null"
      try await eventually("a try that is not the last") { try await stack.count(tried, in: "groups") == 1 }
      serviceAddresses.set(.invites, to: stack.invites.base)
      stack.clock.advance(by: .seconds(600))
      try await eventually("a text") { texting.texts(to: number(7)).count == 1 }
    }
  }

  @Test(arguments: engines) func nobodyIsTextedForWhoHasProvenNothing(engine: Engine) async throws {
    try await withTextingStack(engine) { texting in
      let stack = texting.stack
      let alice = try await stack.signIn("alice")
      let invites = InvitesClient(in: stack.dependencies(of: "groups"))
      let group = try await alice.group()
      let text = TextInvitationRequest(
        group: try #require(GroupID(group)), invitedBy: alice.id, number: number(7), clientAddress: "here")
      try await withUnprovenUsers(of: [alice], in: stack) { _ in
        await #expect {
          _ = try await invites.sendText(text)
        } throws: { error in
          (error as? Failure)?.kind == .forbidden && (error as? Failure)?.code == "not_proven"
        }
      }
      #expect(try await invites.sendText(text).isSent)
    }
  }
}
