import Database
import Foundation
import Messages
import Outbox
import Support
import Testing
import Web
import Wire

@testable import Invites

/// Limits on texts, code attempts and group members.
@Suite struct TextLimitTests {
  @Test(arguments: engines) func twentyTextsADayAreTheMost(engine: Engine) async throws {
    try await withTextingStack(engine) { texting in
      let alice = try await texting.stack.signIn("alice")
      let group = try await alice.group()
      #expect(try await texting.invite((0..<15).map { number($0) }, to: group, by: alice).count == 15)
      let statuses = try await atOnce(10) { index in
        try await alice.browser.post(
          "/api/invites/send", ["group_id": group, "phone_numbers": [number(100 + index)]]
        ).status
      }
      #expect(statuses.count { $0 == 200 } == 5)
      #expect(statuses.count { $0 == 429 } == 5)
      try await eventually("twenty texts") { texting.twilio.messages.count == 20 }
      let refused = try await alice.browser.post(
        "/api/invites/send", ["group_id": group, "phone_numbers": [number(300)]])
      #expect(refused.status == 429)
      #expect(try #require(refused.headers.first(name: "retry-after").flatMap(Int.init)) > 86_000)
      texting.stack.clock.advance(by: .seconds(86_401))
      let later = try await texting.stack.signIn("alice")
      #expect(try await texting.invite([number(300)], to: group, by: later).count == 1)
    }
  }

  @Test(arguments: engines) func aNewKeyDoesNotForgetWhoWasTexted(engine: Engine) async throws {
    try await withTextingStack(engine) { texting in
      let stack = texting.stack
      let alice = try await stack.signIn("alice")
      let group = try await alice.group()
      #expect(try await texting.invite([number(5)], to: group, by: alice).count == 1)
      let former = stack.dependencies.settings.string("DATA_KEYS", default: "")
      let settings = stack.dependencies.settings.overlaid([
        "DATA_KEYS": "new:a newer key 0123456789 abcdefghijk,\(former)"
      ])
      let database = try await stack.testDatabase.open("invites", [])
      let keys = try settings.dataKeys()
      let textInvites = TextInviteStore(
        invites: InviteStore(database: database, keys: keys), quotas: .init(keys: keys),
        smsQuotas: try .init(settings), addressQuota: try .inviteTextsPerAddress(settings),
        outbox: Outbox(database: database, keys: keys, in: stack.dependencies, deliveries: []),
        links: try AppLinks(settings))
      func sent(to index: Int) async throws -> Int {
        let batch = TextInviteStore.Batch(
          group: GroupMembership(
            groupID: try #require(GroupID(group)), groupName: "", role: .owner, isActive: true, seatsLeft: 5),
          sender: Requester(user: alice.id, clientAddress: "here"), senderName: nil,
          recipients: [.init(input: number(index), number: try #require(PhoneNumber(number(index))))])
        let now = stack.clock.now
        return try await database.write { db in try textInvites.create(batch, at: now, on: db).count }
      }
      #expect(try await sent(to: 5) == 0)
      let others = try await sent(to: 6)
      #expect(others == 1)
      await database.close()
    }
  }

  @Test(arguments: engines) func nobodyIsAddedByACallWhoseTextsAreTooMany(engine: Engine) async throws {
    try await withTextingStack(engine) { texting in
      let (alice, bob) = (try await texting.stack.signIn("alice"), try await texting.stack.signIn("bob"))
      try await texting.stack.shareCollection(alice, with: [bob])
      let group = try await alice.group()
      #expect(try await texting.invite((0..<15).map { number($0) }, to: group, by: alice).count == 15)
      func send(_ numbers: [String]) async throws -> Browser.Reply {
        try await alice.browser.post(
          "/api/invites/send",
          ["group_id": group, "phone_numbers": numbers, "existing_users": [["user_id": bob.id.description]]])
      }
      #expect(try await send((100..<106).map { number($0) }).status == 429)
      #expect(try await bob.browser.get("/api/groups").list.isEmpty)
      // Numbers that were texted already do not count, and a refused request uses nothing up.
      let sent = try await send((100..<105).map { number($0) } + [number(0)])
      #expect(sent.status == 200 && sent.int("added_members") == 1)
      #expect((sent["sent_invites"] as? [Any])?.count == 5)
      #expect(try await bob.browser.get("/api/groups").list.count == 1)
    }
  }

  @Test(arguments: engines) func aBodyHasAtMost64KB(engine: Engine) async throws {
    try await withTextingStack(engine) { texting in
      let alice = try await texting.stack.signIn("alice")
      let group = try await alice.group()
      for (path, json) in [
        ("/api/invites/check-users", #"{"phone_numbers":[]}"#),
        ("/api/invites/send", #"{"group_id":"\#(group)","phone_numbers":[]}"#),
      ] {
        func post(_ bytes: Int) async throws -> Browser.Reply {
          let padding = String(repeating: " ", count: bytes - json.utf8.count)
          return try await alice.browser.send(.POST, path, body: Data((json + padding).utf8))
        }
        #expect(try await post(64 * 1024).status == 200, "\(path)")
        let refused = try await post(64 * 1024 + 1)
        #expect(refused.status == 413 && refused.string("code") == "body_too_large", "\(path)")
      }
    }
  }

  @Test(arguments: engines) func textsFromOneAddressAreCountedWhoeverAsksForThem(engine: Engine) async throws {
    let settings = ["INVITE_SMS_PER_ADDRESS_HOUR": "3", "TRUSTED_PROXIES": "127.0.0.0/8"]
    try await withTextingStack(engine, settings) { texting in
      let (alice, bob) = (try await texting.stack.signIn("alice"), try await texting.stack.signIn("bob"))
      func send(_ user: SignedInUser, _ group: String, from address: String, _ index: Int) async throws -> Int {
        try await user.browser.with(["X-Forwarded-For": address]).post(
          "/api/invites/send", ["group_id": group, "phone_numbers": [number(index)]]
        ).status
      }
      let (ours, theirs) = (try await alice.group(), try await bob.group())
      for index in 0..<3 { #expect(try await send(alice, ours, from: "203.0.113.1", index) == 200) }
      #expect(try await send(bob, theirs, from: "203.0.113.1", 10) == 429)
      #expect(try await send(bob, theirs, from: "203.0.113.2", 10) == 200)
    }
  }

  @Test(arguments: engines) func guessingCodesLeadsNowhere(engine: Engine) async throws {
    try await withTextingStack(engine, ["TRUSTED_PROXIES": "127.0.0.0/8"]) { texting in
      let alice = try await texting.stack.signIn("alice")
      let guessers = try await atOnce(50) { try await texting.stack.signIn("guest\($0)") }
      let code = try await texting.invite([number(5)], to: try await alice.group(), by: alice)[0]
      // Each from another address.
      let statuses = try await atOnce(50) { who in
        let guesser = guessers[who].browser.with(["X-Forwarded-For": "203.0.113.\(who)"])
        var statuses: [Int] = []
        for round in 0..<20 {
          let guess = "\(UUID().uuidString.prefix(4))\(who % 10)\(round % 10)"
          statuses.append(try await guesser.post("/api/invites/redeem/\(guess)").status)
        }
        return statuses
      }.flatMap { $0 }
      #expect(statuses.count == 1000)
      // Three hundred in total, and the first of each user.
      #expect((300...350).contains(statuses.count { $0 == 404 }))
      #expect(statuses.count { $0 == 404 || $0 == 429 } == 1000)
      // A user over the limit cannot tell whether a code is right; an hour later it works.
      let cut = try await guessers[0].browser.post("/api/invites/redeem/\(code)")
      #expect(cut.status == 429 && cut.headers.contains(name: "retry-after"))
      texting.stack.clock.advance(by: .seconds(3601))
      let fresh = try await texting.stack.signIn("guest0")
      #expect(try await fresh.browser.post("/api/invites/redeem/\(code)").status == 200)
    }
  }

  @Test(arguments: engines) func theThirteenthMemberIsNeverLetIn(engine: Engine) async throws {
    try await withTextingStack(engine) { texting in
      let alice = try await texting.stack.signIn("alice")
      let guests = try await concurrently(20) { try await texting.stack.signIn("guest\($0)") }
      try await texting.stack.shareCollection(alice, with: [guests[19]])
      let group = try await alice.group()
      let codes = try await texting.invite((0..<15).map { number($0) }, to: group, by: alice)
      let replies = try await concurrently(15) { try await guests[$0].browser.post("/api/invites/redeem/\(codes[$0])") }
      #expect(replies.count { $0.status == 200 } == 11)
      let full = replies.filter { $0.status == 400 }
      #expect(full.count == 4 && full.allSatisfy { $0.string("code") == "group_full" })
      #expect(try await alice.browser.get("/api/groups").list.first?["member_count"] as? Int == 12)
      // Nobody can be added or invited to a full group; a code that was refused for that is still valid.
      for body in [
        ["group_id": group, "phone_numbers": [String](), "existing_users": [["user_id": guests[19].id.description]]],
        ["group_id": group, "phone_numbers": [number(400)]],
      ] as [[String: any Sendable]] {
        let refused = try await alice.browser.post("/api/invites/send", body)
        #expect(refused.status == 400 && refused.string("code") == "group_full")
      }
      // Validation failures come before the full group.
      let nobody: [String: any Sendable] = [
        "group_id": group, "phone_numbers": [number(400)], "existing_users": [["user_id": "x"]],
      ]
      #expect(try await alice.browser.post("/api/invites/send", nobody).status == 422)
      let out = try #require(replies.firstIndex { $0.status == 400 })
      let inside = try #require(replies.firstIndex { $0.status == 200 })
      #expect(try await guests[inside].browser.delete("/api/groups/\(group)").status == 200)
      #expect(try await guests[out].browser.post("/api/invites/redeem/\(codes[out])").status == 200)
    }
  }
}
