import Clients
import Database
import Foundation
import Support
import Testing
import Web
import Wire

@testable import Invites

/// What is known of people, and for how long.
@Suite struct InvitesDataTests {
  @Test(arguments: engines) func anExportHasWhatSomebodyMadeAndUsed(engine: Engine) async throws {
    try await withTexting(engine) { texting in
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
    }
  }

  @Test(arguments: engines) func whatTheForgottenHaveMadeIsTakenBack(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob, carol) = (
        try await stack.signIn("alice"), try await stack.signIn("bob"), try await stack.signIn("carol")
      )
      let collection = try await alice.collection()
      let link = try await alice.link(to: collection)
      let forBob = try await alice.link(to: collection, ["inviteeUserId": "user_\(bob.id)"])
      let auth = stack.invites.with(stack.with(key: "auth"))
      #expect(
        try await stack.invites.with(stack.with(key: "groups")).delete("/internal/users/\(bob.id)/data").status == 403)
      for _ in 0..<2 { #expect(try await auth.delete("/internal/users/\(bob.id)/data").status == 204) }
      // An invite for somebody who is gone is for nobody.
      #expect(try await carol.accept(forBob).status == 409)
      #expect(try await stack.resolve(link).status == 200)
      #expect(try await auth.delete("/internal/users/\(alice.id)/data").status == 204)
      #expect(try await stack.resolve(link).status == 410)
      #expect(try await carol.accept(link).status == 409)
      #expect(try await stack.gateway.get("/invite/\(link.token)").status == 410)
      let database = try await stack.place.open("invites", [])
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

  @Test(arguments: engines) func numbersAreForgottenThirtyDaysAfterTheirInviteEnded(engine: Engine) async throws {
    try await withTexting(engine) { texting in
      let stack = texting.stack
      let alice = try await stack.signIn("alice")
      let group = try await alice.group()
      _ = try await texting.invite([number(4)], to: group, by: alice)
      let database = try await stack.place.open("invites", [])
      let sweep = Sweep(
        database: database, quotas: .init(keys: try stack.surroundings.settings.dataKeys()), in: stack.surroundings)
      func kept(_ condition: SQL) async throws -> Int {
        while try await sweep.sweep() {}
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
