import Database
import Foundation
import Support
import Testing
import Wire

/// kill -9 while users join by invites: every user who claimed a use is added once, and each text is sent once.
@Suite struct InviteCrashTests {
  private func signIn(_ kith: KithProcess, _ name: String) async throws -> SignedInUser {
    let token = try await kith.gateway.with(["X-Admin-Key": TestStack.adminKey])
      .post("/api/v1/auth/dev/token", ["email": "\(name)@example.com", "display_name": name])
    return try await SignedInUser(token, through: kith.gateway)
  }

  /// Makes the leases of the killed process expire.
  private func release(_ table: SQL, in testDatabase: TestDatabase) async throws {
    let database = try await testDatabase.open("invites", [])
    let now = Date()
    try await database.write { db in try db.change("update \(table) set due_at = \(now) where due_at is not null") }
    await database.close()
  }

  @Test(arguments: engines) func whoeverTookUpAnInviteIsInOnceWheneverTheKillCame(engine: Engine) async throws {
    try await withTestDatabase(engine) { testDatabase in
      let environment = try KithProcess.environment(testDatabase).merging([
        "RATE_LIMIT": "100000", "RATE_LIMIT_USER": "100000", "RATE_LIMIT_SIGN_IN": "100000",
      ]) { $1 }
      var kith = try await KithProcess.start(in: testDatabase, environment)
      var interrupted = 0
      for round in 0..<8 {
        let alice = try await signIn(kith, "alice\(round)")
        var guests: [SignedInUser] = []
        for index in 0..<10 { guests.append(try await signIn(kith, "guest\(index)")) }
        let crowd = guests
        let made = try await alice.browser.post("/api/groups", ["name": "Round \(round)"])
        let group = made.string("id")
        let link = try await alice.browser.post("/api/groups/\(group)/invites", ["max_uses": 11])
        let code = link.string("code")
        #expect(link.status == 201)
        let victim = kith
        let killing = Task {
          try await Task.sleep(for: .milliseconds(Int.random(in: 2...90)))
          await victim.kill()
        }
        let replies = try await atOnce(10) { index in
          do { return (index, try await crowd[index].browser.post("/api/invites/redeem/\(code)").status) } catch {
            return (index, 0)
          }
        }
        let answered = replies.sorted { $0.0 < $1.0 }.map(\.1)
        try await killing.value
        if answered.contains(0) { interrupted += 1 }
        try await release("invite_use", in: testDatabase)
        kith = try await KithProcess.start(in: testDatabase, environment)
        try await eventually("the end of what was begun") {
          try await testDatabase.count("invite_use where due_at is not null", in: "invites") == 0
        }
        let again = try await signIn(kith, "alice\(round)")
        let mine = try await again.browser.get("/api/groups").list.first { $0["id"] as? String == group }
        let members = Set((mine?["members"] as? [[String: Any]] ?? []).compactMap { $0["id"] as? String })
        for (guest, status) in zip(guests, answered) where status == 200 {
          #expect(members.contains(guest.id.description))
        }
        let listed = try await again.browser.get("/api/groups/\(group)/invites")["invites"] as? [[String: Any]]
        #expect(listed?.first?["uses_count"] as? Int == members.count - 1)
        #expect(mine?["member_count"] as? Int == members.count)
        // Users without a response retry; the response may be that they are members already.
        for (index, status) in answered.enumerated() where status != 200 {
          let guest = try await signIn(kith, "guest\(index)")
          let retried = try await guest.browser.post("/api/invites/redeem/\(code)")
          #expect([200, 400].contains(retried.status), "\(retried.text)")
          if retried.status == 400 { #expect(members.contains(guest.id.description)) }
          #expect(try await guest.browser.delete("/api/groups/\(group)").status == 200)
        }
        for (index, status) in answered.enumerated() where status == 200 {
          #expect(try await signIn(kith, "guest\(index)").browser.delete("/api/groups/\(group)").status == 200)
        }
      }
      #expect(interrupted > 0)
      #expect(await kith.stop() == 0)
    }
  }

  @Test(arguments: engines) func aTextIsSentOnceThoughTheProcessDiedBeforeItKnew(engine: Engine) async throws {
    try await withTestDatabase(engine) { testDatabase in
      try await withTwilio { twilio in
        let environment = try KithProcess.environment(testDatabase).merging(twilio.settings) { $1 }
        var kith = try await KithProcess.start(in: testDatabase, environment)
        let alice = try await signIn(kith, "alice")
        let group = try await alice.browser.post("/api/groups", ["name": "The Cabin"]).string("id")
        twilio.next(.acceptsThenHangs)
        let sent = try await alice.browser.post(
          "/api/invites/send", ["group_id": group, "phone_numbers": ["+4790100005"]])
        #expect(sent.status == 200)
        try await eventually("a text") { twilio.messages.count == 1 }
        await kith.kill()
        #expect(try await testDatabase.count("outbox where due_at is not null", in: "invites") == 1)
        try await release("outbox", in: testDatabase)
        kith = try await KithProcess.start(in: testDatabase, environment)
        try await eventually("an empty outbox") {
          try await testDatabase.count("outbox where due_at is not null", in: "invites") == 0
        }
        #expect(twilio.messages.count == 1)
        #expect(await kith.stop() == 0)
      }
    }
  }
}
