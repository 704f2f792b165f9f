import Database
import Foundation
import Support
import Testing
import Wire

/// Holds over HTTP, as other services use them.
@Suite struct HoldRouteTests {
  private func open(
    _ stack: TestStack, _ user: SignedInUser, _ body: [String: any Sendable], key: String = "billing+credits"
  ) async throws -> Browser.Reply {
    let all = ["user_id": user.id.description as any Sendable, "idempotency_key": UUID().uuidString]
    return try await stack.credits.with(stack.with(key: key))
      .post("/internal/credits/holds", all.merging(body) { $1 })
  }

  private func settle(
    _ stack: TestStack, _ id: String, _ how: String, _ body: [String: any Sendable] = [:]
  ) async throws -> Browser.Reply {
    try await stack.credits.with(stack.with(key: "billing+credits")).post("/internal/credits/holds/\(id)/\(how)", body)
  }

  @Test(arguments: engines) func aGenerationHoldsItsPriceAndPaysWhenItIsDone(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let hold = try await open(
        stack, alice,
        ["operation": "generate_hd", "expires_in": 60, "reference_id": "t-1", "reference_type": "timepoint"])
      #expect(hold.status == 201)
      #expect((hold.int("cost"), hold.int("balance"), hold.int("held")) == (10, 50, 10))
      let expiry = try #require(RFC3339.parse(hold.string("expires_at")))
      #expect(abs(expiry.timeIntervalSince(stack.clock.now) - 60) < 30)
      let held = try await alice.browser.get("/api/v1/credits/balance")
      #expect((held.int("balance"), held.int("held"), held.int("available"), held.int("debt")) == (50, 10, 40, 0))
      let check = try await stack.credits.with(stack.with(key: "invites"))
        .get("/internal/credits/check?user_id=\(alice.id)&cost=41")
      #expect(check.bool("sufficient") == false)

      let captured = try await settle(stack, hold.string("id"), "capture")
      #expect(captured.status == 200)
      #expect((captured.string("status"), captured.int("balance")) == ("captured", 40))
      #expect(captured.string("id") == hold.string("id"))
      let again = try await settle(stack, hold.string("id"), "capture")
      #expect(again.status == 200 && again.body == captured.body)
      #expect(again.headers.first(name: "idempotency-hit") == "true")
      let released = try await settle(stack, hold.string("id"), "release")
      #expect((released.status, released.string("code")) == (409, "hold_captured"))
      let history = try await alice.browser.get("/api/v1/credits/history").list
      #expect(history.compactMap { $0["amount"] as? Int } == [-10, 50])
      #expect(history[0]["type"] as? String == "generation")
      #expect(history[0]["reference_id"] as? String == "t-1")
    }
  }

  @Test(arguments: engines) func aHoldIsRefusedWithItsRealCost(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let refused = try await open(stack, alice, ["cost": 51])
      #expect(refused.status == 402)
      #expect(refused.string("detail") == "Insufficient credits. This operation costs 51 credits.")
      let balance = try await alice.browser.get("/api/v1/credits/balance")
      #expect((balance.int("balance"), balance.int("held")) == (50, 0))
      #expect(try await open(stack, alice, ["cost": 50]).status == 201)
      #expect(try await open(stack, alice, ["operation": "chat"]).string("detail").contains("costs 1 credits"))
    }
  }

  @Test(arguments: engines) func aRepeatedRequestHasTheSameHold(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let body: [String: any Sendable] = ["cost": 30, "idempotency_key": "one", "expires_in": 60]
      let replies = try await atOnce(50) { _ in try await open(stack, alice, body) }
      #expect(replies.allSatisfy { $0.status == 201 } && Set(replies.map(\.body)).count == 1)
      #expect(replies.count { $0.headers.first(name: "idempotency-hit") == "true" } == 49)
      let other = try await open(stack, alice, ["cost": 20, "idempotency_key": "one", "expires_in": 60])
      #expect((other.status, other.string("code")) == (422, "idempotency_key_reused"))
      let header = stack.credits.with(stack.with(key: "billing+credits")).with(["Idempotency-Key": "two"])
      let byHeader = try await atOnce(20) { _ in
        try await header.post("/internal/credits/holds", ["user_id": alice.id.description, "cost": 20])
      }
      #expect(byHeader.allSatisfy { $0.status == 201 } && Set(byHeader.map(\.body)).count == 1)
      #expect(try await alice.browser.get("/api/v1/credits/balance").int("available") == 0)
    }
  }

  @Test(arguments: engines) func theWorkerGivesBackWhatNobodySettles(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let hold = try await open(stack, alice, ["cost": 30, "expires_in": 60])
      stack.clock.advance(by: .seconds(61))
      let late = try await settle(stack, hold.string("id"), "capture")
      #expect((late.status, late.string("code")) == (409, "hold_expired"))
      try await eventually("what was held") {
        try await alice.browser.get("/api/v1/credits/balance").int("held") == 0
      }
      #expect(try await alice.browser.get("/api/v1/credits/balance").int("available") == 50)
      #expect(try await settle(stack, hold.string("id"), "release").status == 409)
    }
  }

  @Test func whatIsNoHoldIsRefusedByItsField() async throws {
    try await withStack(.sqlite) { stack in
      let alice = try await stack.signIn("alice")
      for (body, field) in [
        (["operation": "paint"], "operation"), (["operation": "chat", "cost": 1], "cost"), ([:], "cost"),
        (["cost": 0], "cost"), (["cost": 1_000_000_001], "cost"), (["cost": 1, "expires_in": 0], "expires_in"),
        (["cost": 1, "expires_in": 86_401], "expires_in"), (["cost": 1, "expires_in": Int.max], "expires_in"),
        (["cost": 1, "idempotency_key": ""], "idempotency_key"), (["cost": 1, "user_id": "alice"], "user_id"),
        (["cost": 1, "reference_id": String(repeating: "x", count: 501)], "reference_id"),
      ] as [([String: any Sendable], String)] {
        let reply = try await open(stack, alice, body)
        let errors = reply["errors"] as? [[String: String]] ?? []
        #expect(reply.status == 422 && errors.first?["field"] == field, "\(body): \(reply.text)")
      }
      let keyless = try await stack.credits.with(stack.with(key: "invites"))
        .post("/internal/credits/holds", ["user_id": alice.id.description, "cost": 1])
      #expect(keyless.status == 422 && keyless.string("detail") == "idempotency_key is required")
      let hold = try await open(stack, alice, ["cost": 10])
      for (amount, status) in [(11, 422), (0, 422), (-1, 422), (Int.max, 422), (9, 200), (10, 409)] {
        #expect(try await settle(stack, hold.string("id"), "capture", ["amount": amount]).status == status)
      }
      for unknown in ["00000000-0000-7000-8000-000000000000", "x"] {
        let reply = try await settle(stack, unknown, "release")
        #expect((reply.status, reply.string("code")) == (404, "hold_not_found"))
      }
      let stranger = try await open(stack, alice, ["cost": 1, "user_id": UserID.new(at: Date()).description])
      #expect((stranger.status, stranger.string("code")) == (404, "user_not_found"))
    }
  }

  @Test func onlyThoseWhoMaySpendMayHold() async throws {
    try await withStack(.sqlite) { stack in
      let alice = try await stack.signIn("alice")
      let id = try await open(stack, alice, ["cost": 1], key: "invites").string("id")
      for key in ["plain", "sync+act", "gateway", "events"] {
        #expect(try await open(stack, alice, ["cost": 1], key: key).status == 403, "\(key)")
        let service = stack.credits.with(stack.with(key: key))
        #expect(try await service.post("/internal/credits/holds/\(id)/release").status == 403, "\(key)")
        #expect(try await service.get("/internal/credits/audit").status == 403, "\(key)")
      }
      #expect(
        try await stack.gateway.with(stack.with(key: "billing+credits")).get("/internal/credits/audit").status == 404)
      #expect(try await settle(stack, id, "release").status == 200)
    }
  }

  @Test(arguments: engines) func theAuditIsThereOnDemandAndInHealth(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      _ = try await open(stack, alice, ["cost": 1])
      let service = stack.credits.with(stack.with(key: "billing+credits"))
      let audit = try await service.get("/internal/credits/audit")
      #expect((audit.status, audit.string("status"), audit.int("findings")) == (200, "ok", 0))
      #expect(audit.int("operations") == 1 && audit.int("accounts") == 1)
      let health = try await stack.credits.get("/health")
      #expect((health.status, health.string("ledger"), health.string("status")) == (200, "ok", "ok"))
      let metrics = try await service.get("/metrics").text
      #expect(metrics.contains("kith_ledger_findings{check=\"lots\"} 0"))
      #expect(metrics.contains("kith_ledger_audit_age_seconds "))

      let database = try await stack.testDatabase.open("credits", [])
      try await database.write { try $0.change("update credit_lot set remaining = 49") }
      await database.close()
      let wrong = try await service.get("/internal/credits/audit")
      #expect((wrong.string("status"), wrong.int("findings")) == ("inconsistent", 1))
      #expect((wrong["oldest"] as? [[String: String]])?.first == ["check": "lots", "subject": alice.id.description])
      let sick = try await stack.credits.get("/health")
      #expect((sick.status, sick.string("ledger")) == (200, "inconsistent"))
    }
  }

  @Test(arguments: engines) func theExportHasHoldsAndWhatIsLeftOfGrants(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let hold = try await open(stack, alice, ["cost": 8, "reference_id": "t-1"])
      #expect(try await settle(stack, hold.string("id"), "capture", ["amount": 3]).status == 200)
      _ = try await open(stack, alice, ["operation": "chat"])
      let path = "/internal/users/\(alice.id)/data"
      let export = try await stack.credits.with(stack.with(key: "auth")).get(path)
      let holds = try #require(export["credit_holds"] as? [[String: Any]])
      #expect(holds.map { $0["status"] as? String } == ["open", "captured"])
      #expect(holds.map { $0["captured"] as? Int } == [0, 3] && holds[1]["reference_id"] as? String == "t-1")
      let lots = try #require(export["credit_lots"] as? [[String: Any]])
      #expect(lots.map { $0["remaining"] as? Int } == [47] && lots[0]["expires_at"] is NSNull)
      #expect((export["credit_history"] as? [[String: Any]])?.count == 2)
      #expect(try await stack.credits.with(stack.with(key: "billing+credits")).get(path).status == 403)
    }
  }
}
