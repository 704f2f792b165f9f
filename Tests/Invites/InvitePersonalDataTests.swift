import Clients
import Foundation
import Support
import Testing
import Web
import Wire

@testable import Database
@testable import Invites

/// Export, erasure and retention of personal data.
@Suite struct InvitePersonalDataTests {
  @Test(arguments: engines) func anExportHasWhatSomebodyMadeAndUsed(engine: Engine) async throws {
    try await withTextingStack(engine) { texting in
      let stack = texting.stack
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let code = try await texting.invite([number(4)], to: try await alice.group(), by: alice)[0]
      #expect(try await bob.browser.post("/api/invites/redeem/\(code)").status == 200)
      let made = try await alice.browser.get("/api/v1/users/me/export")
      let own = (made["data"] as? [String: Any])?["invites"] as? [String: Any]
      let first = try #require((own?["invites_made"] as? [[String: Any]])?.first)
      #expect(first["phone_number"] as? String == "+47***04" && first["state"] as? String == "accepted")
      #expect(!made.text.contains(number(4)) && !made.text.contains(code))
      let used = (try await bob.browser.get("/api/v1/users/me/export")["data"] as? [String: Any])?["invites"]
      #expect(((used as? [String: Any])?["invites_used"] as? [Any])?.count == 1)
      try await stack.shareCollection(alice, with: [bob])
      let collection = try await alice.collection()
      let forBob = try await alice.link(to: collection, ["inviteeUserId": "user_\(bob.id)"])
      func addressed(_ user: SignedInUser) async throws -> [[String: Any]] {
        let data = try await user.browser.get("/api/v1/users/me/export")["data"] as? [String: Any]
        return (data?["invites"] as? [String: Any])?["invites_addressed"] as? [[String: Any]] ?? []
      }
      let received = try await addressed(bob)
      #expect(received.map { "inv_\($0["id"] ?? "")" } == [forBob.id])
      #expect(
        received.first?["leads_to"] as? String == "collection" && received.first?["state"] as? String == "pending")
      #expect(try await addressed(alice).isEmpty)
    }
  }

  /// A user's phone number and e-mail address are erased also in the invites that others sent to them.
  @Test(arguments: engines) func whoIsForgottenIsForgottenByThoseWhoInvitedThem(engine: Engine) async throws {
    try await withTextingStack(engine) { texting in
      let stack = texting.stack
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signInWithApple("bob"))
      let codes = try await texting.invite([number(4), number(5)], to: try await alice.group(), by: alice)
      #expect(try await bob.browser.post("/api/invites/redeem/\(codes[0])").status == 200)
      let collection = try await alice.collection()
      let link = try await alice.link(to: collection, ["inviteeEmail": "bob@example.com"])
      #expect(try await bob.accept(link).status == 200)
      _ = try await alice.link(to: collection, ["inviteeEmail": "carol@example.com"])
      let database = try await stack.testDatabase.open("invites", [])
      func kept() async throws -> [Int] {
        try await database.read { db in
          let row = try db.row("select count(sealed_phone) as phones, count(sealed_email) as emails from invite")
          return [try row?.get("phones") ?? -1, try row?.get("emails") ?? -1]
        }
      }
      let before = try await kept()
      #expect(before == [2, 2])
      let auth = stack.invites.with(stack.with(key: "auth"))
      for _ in 0..<2 { #expect(try await auth.delete("/internal/users/\(bob.id)/data").status == 204) }
      // Data of other invitees stays as long as their invites are open.
      #expect(try await kept() == [1, 1])
      await database.close()
    }
  }

  @Test(arguments: engines) func whatTheForgottenHaveMadeIsTakenBack(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob, carol) = (
        try await stack.signIn("alice"), try await stack.signIn("bob"), try await stack.signIn("carol")
      )
      try await stack.shareCollection(alice, with: [bob])
      let collection = try await alice.collection()
      let link = try await alice.link(to: collection)
      let forBob = try await alice.link(to: collection, ["inviteeUserId": "user_\(bob.id)"])
      let auth = stack.invites.with(stack.with(key: "auth"))
      #expect(
        try await stack.invites.with(stack.with(key: "groups")).delete("/internal/users/\(bob.id)/data").status == 403)
      for _ in 0..<2 { #expect(try await auth.delete("/internal/users/\(bob.id)/data").status == 204) }
      // An invite for an erased user cannot be used by anybody.
      #expect(try await carol.accept(forBob).status == 409)
      #expect(try await stack.resolve(link).status == 200)
      #expect(try await auth.delete("/internal/users/\(alice.id)/data").status == 204)
      #expect(try await stack.resolve(link).status == 410)
      #expect(try await carol.accept(link).status == 409)
      #expect(try await stack.gateway.get("/invite/\(link.token)").status == 410)
      let database = try await stack.testDatabase.open("invites", [])
      let rows = try await database.read { db in
        try ["invite", "inviter", "invite_use", "outbox", "idempotency_key"].map { table in
          "\(try db.rows("select * from \(SQL(stringLiteral: table))"))"
        }.joined()
      }
      await database.close()
      #expect(!rows.contains(alice.id.description) && !rows.contains(bob.id.description))
      #expect(rows.contains("revoked"))
    }
  }

  @Test(arguments: engines) func whatIsOverIsFoundWithoutLookingAtTheRest(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let database = try await stack.testDatabase.open("invites", [])
      let over = InviteSweep.deletableInvites(at: stack.clock.now, limit: 500)
      var words = SQL.StringInterpolation(literalCapacity: 0, interpolationCount: 0)
      words.text = (engine == .sqlite ? "explain query plan " : "explain ") + over.text
      words.bindings = over.bindings
      let question = SQL(stringInterpolation: words)
      let plan = try await database.write { db in
        // An empty table is scanned because that is faster; the test is whether it has to be.
        if engine == .postgres { try db.change("set local enable_seqscan = off") }
        return try db.rows(question).map { try $0.get(engine == .sqlite ? "detail" : "QUERY PLAN", as: String.self) }
      }
      #expect(plan.contains { $0.contains("invite_ended") }, "\(plan)")
      await database.close()
    }
  }

  @Test(arguments: engines) func numbersAreForgottenThirtyDaysAfterTheirInviteEnded(engine: Engine) async throws {
    try await withTextingStack(engine) { texting in
      let stack = texting.stack
      let alice = try await stack.signIn("alice")
      let group = try await alice.group()
      _ = try await texting.invite([number(4)], to: group, by: alice)
      let database = try await stack.testDatabase.open("invites", [])
      let sweep = InviteSweep(
        database: database, quotas: .init(keys: try stack.dependencies.settings.dataKeys()), in: stack.dependencies)
      func kept(_ condition: SQL) async throws -> Int {
        try await sweep.sweep()
        let row = try await database.read { db in
          try db.row("select count(*) as found from invite where \(condition)")
        }
        return try row?.get("found") ?? -1
      }
      let pending = try await kept("state = 'pending' and sealed_phone is not null")
      #expect(pending == 1)
      stack.clock.advance(by: .seconds(7 * 86_400 + 60))
      #expect(try await kept("state = 'expired' and sealed_phone is not null") == 1)
      stack.clock.advance(by: .seconds(29 * 86_400))
      #expect(try await kept("sealed_phone is not null") == 1)
      stack.clock.advance(by: .seconds(86_400))
      #expect(try await kept("sealed_phone is not null") == 0)
      #expect(try await kept("true") == 1)
      stack.clock.advance(by: .seconds(336 * 86_400))
      #expect(try await kept("true") == 0)
      await database.close()
    }
  }
}
