import Clients
import Database
import Foundation
import Support
import Testing
import Wire

/// Grants, spends and history of credits, and the sums of the ledger.
@Suite struct LedgerTests {
  private func ledgerSums(_ stack: TestStack, of user: UserID) async throws -> (sum: Int, all: Int, balance: Int) {
    let database = try await stack.testDatabase.open("credits", [])
    let result = try await database.read { db in
      let sum: SQL = "select cast(coalesce(sum(amount), 0) as bigint) as total from ledger_posting"
      let mine = try db.row("\(sum) where account_id = \(user.description)")?.get("total", as: Int.self)
      let balance = try db.row("select balance from ledger_account where id = \(user.description)")
      return (
        mine ?? 0, try db.row(sum)?.get("total", as: Int.self) ?? -1, try balance?.get("balance", as: Int.self) ?? -1
      )
    }
    await database.close()
    return result
  }

  private func admin(_ stack: TestStack) -> Browser { stack.gateway.with(["X-Admin-Key": TestStack.adminKey]) }

  @Test(arguments: engines) func welcomeCreditsComeOnceWhoeverAsksFirst(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let credits = CreditsClient(in: stack.dependencies(of: "invites"))
      let answers = try await atOnce(50) { index in
        switch index % 3 {
        case 0: try await alice.browser.get("/api/v1/credits/balance").int("balance") ?? -1
        case 1: try await credits.check(alice.id, cost: 50).balance
        default: try await alice.browser.get("/api/v1/credits/history").list.first?["balance_after"] as? Int ?? -1
        }
      }
      #expect(answers.allSatisfy { $0 == 50 })
      let history = try await alice.browser.get("/api/v1/credits/history").list
      #expect(history.count == 1)
      #expect(history[0]["type"] as? String == "signup_bonus")
      #expect(try await ledgerSums(stack, of: alice.id) == (50, 0, 50))
    }
  }

  @Test(arguments: engines) func strangersHaveNoAccount(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let credits = CreditsClient(in: stack.dependencies(of: "invites"))
      let nobody = UserID.new(at: Date())
      await #expect(throws: Failure.self) { _ = try await credits.check(nobody, cost: 1) }
      await #expect(throws: Failure.self) { _ = try await credits.spend(.init(userID: nobody, cost: 1)) }
      let grant = try await admin(stack).post(
        "/api/v1/credits/admin/grant", ["user_id": nobody.description, "amount": 5])
      #expect(grant.status == 404)
      #expect(try await ledgerSums(stack, of: nobody) == (0, 0, -1))
    }
  }

  @Test(arguments: engines) func aHundredSpendsOfTenCreditsSucceedTenTimes(engine: Engine) async throws {
    try await withStack(engine, ["SIGNUP_CREDITS": "10"]) { stack in
      let alice = try await stack.signIn("alice")
      let service = stack.credits.with(stack.with(key: "invites"))
      let replies = try await atOnce(100) { _ in
        try await service.post("/internal/credits/spend", ["user_id": alice.id.description, "cost": 1])
      }
      #expect(replies.allSatisfy { $0.status == 200 })
      #expect(replies.count { $0.bool("success") == true } == 10)
      let refused = try #require(replies.first { $0.bool("success") == false })
      #expect(refused.string("error") == "Insufficient credits. This operation costs 1 credits.")
      #expect(refused["transaction_id"] is NSNull)
      #expect(Set(replies.compactMap { $0["transaction_id"] as? String }).count == 10)
      #expect(try await ledgerSums(stack, of: alice.id) == (0, 0, 0))
      let history = try await alice.browser.get("/api/v1/credits/history?limit=100").list
      #expect(history.compactMap { $0["balance_after"] as? Int } == Array(0...10))
    }
  }

  @Test(arguments: engines) func aKeyIsChargedOnceHoweverOftenItComes(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let credits = CreditsClient(in: stack.dependencies(of: "invites"))
      let spend = SpendCredits(
        userID: alice.id, cost: 5, transactionType: "chat", description: "hello", referenceID: "t1",
        referenceType: "timepoint", idempotencyKey: "one")
      let moved = try await atOnce(50) { _ in try await credits.spend(spend) }
      #expect(Set(moved).count == 1)
      #expect(moved[0].balanceAfter == 45)
      // Another body under the same key is refused; the same key of another caller is independent.
      let other = SpendCredits(userID: alice.id, cost: 6, transactionType: "chat", idempotencyKey: "one")
      await #expect { _ = try await credits.spend(other) } throws: { error in
        (error as? Failure)?.code == "idempotency_key_reused"
      }
      let billing = stack.credits.with(stack.with(key: "billing+credits"))
      let elsewhere = try await billing.post(
        "/internal/credits/spend", ["user_id": alice.id.description, "cost": 5, "idempotency_key": "one"])
      #expect(elsewhere.int("balance_after") == 40)
      #expect(try await ledgerSums(stack, of: alice.id) == (40, 0, 40))
    }
  }

  @Test(arguments: engines) func twinsThatSpendTheWholeBalanceAreOneSpend(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let credits = CreditsClient(in: stack.dependencies(of: "invites"))
      _ = try await credits.check(alice.id, cost: 50)
      let spend = SpendCredits(userID: alice.id, cost: 50, idempotencyKey: "all of it")
      let moved = try await atOnce(50) { _ in try await credits.spend(spend) }
      #expect(Set(moved).count == 1)
      #expect(try await ledgerSums(stack, of: alice.id) == (0, 0, 0))
    }
  }

  @Test(arguments: engines) func theHistoryIsNewestFirstAndSaysWhy(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let id = alice.id.description
      let granted = try await admin(stack).post(
        "/api/v1/credits/admin/grant", ["user_id": id, "amount": 100, "transaction_type": "stripe_purchase"])
      #expect(granted.status == 200)
      #expect(granted.int("balance") == 150)
      #expect(granted.int("granted") == 100)
      _ = try await admin(stack).post(
        "/api/v1/credits/admin/grant", ["user_id": id, "amount": 1, "transaction_type": "what is this"])
      let credits = CreditsClient(in: stack.dependencies(of: "invites"))
      _ = try await credits.spend(
        .init(userID: alice.id, cost: 10, description: "HD", referenceID: "t-1", referenceType: "timepoint"))
      let history = try await alice.browser.get("/api/v1/credits/history").list
      #expect(history.map { $0["amount"] as? Int } == [-10, 1, 100, 50])
      #expect(
        history.map { $0["type"] as? String } == ["generation", "admin_grant", "stripe_purchase", "signup_bonus"])
      #expect(history.map { $0["balance_after"] as? Int } == [141, 151, 150, 50])
      #expect(history[0]["reference_id"] as? String == "t-1")
      #expect(history[1]["description"] as? String == "Manual top-up")
      let page = try await alice.browser.get("/api/v1/credits/history?limit=2&offset=1").list
      #expect(page.map { $0["amount"] as? Int } == [1, 100])
      let balance = try await alice.browser.get("/api/v1/credits/balance")
      #expect(balance.int("lifetime_earned") == 151)
      #expect(balance.int("lifetime_spent") == 10)
      for wrong in ["limit=0", "limit=101", "limit=x", "offset=-1", "limit=99999999999999999999"] {
        #expect(try await alice.browser.get("/api/v1/credits/history?\(wrong)").status == 422, "\(wrong)")
      }
    }
  }

  @Test func costsAreThereForEveryone() async throws {
    try await withStack(.sqlite) { stack in
      let costs = try await stack.gateway.get("/api/v1/credits/costs")["costs"] as? [String: Int]
      #expect(
        costs == [
          "generate_balanced": 5, "generate_hd": 10, "generate_hyper": 5, "generate_gemini3": 5, "chat": 1,
          "temporal_jump": 2,
        ])
    }
  }

  @Test func whoCannotPayHearsTheRealCost() async throws {
    try await withStack(.sqlite) { stack in
      let alice = try await stack.signIn("alice")
      let credits = CreditsClient(in: stack.dependencies(of: "invites"))
      #expect(try await credits.check(alice.id, cost: 51) == CreditCheck(sufficient: false, balance: 50))
      await #expect(throws: Failure.insufficientCredits(cost: 51)) {
        _ = try await credits.spend(.init(userID: alice.id, cost: 51))
      }
      #expect(APIDialect.api.status(of: Failure.insufficientCredits(cost: 51).kind) == 402)
      #expect(try await credits.spend(.init(userID: alice.id, cost: 50)).balanceAfter == 0)
    }
  }

  @Test func amountsAreWholePositiveAndBounded() async throws {
    try await withStack(.sqlite) { stack in
      let alice = try await stack.signIn("alice")
      let service = stack.credits.with(stack.with(key: "invites"))
      let id = alice.id.description
      for wrong in [0, -1, 1_000_000_001, 1.5, "5", Int.max] as [any Sendable] {
        let body: [String: any Sendable] = ["user_id": id, "cost": wrong, "amount": wrong]
        #expect(try await service.post("/internal/credits/spend", body).status == 422, "\(wrong)")
        #expect(try await service.post("/internal/credits/grant", body).status == 422, "\(wrong)")
        #expect(try await admin(stack).post("/api/v1/credits/admin/grant", body).status == 422, "\(wrong)")
      }
      #expect(try await service.post("/internal/credits/spend", ["user_id": "alice", "cost": 1]).status == 422)
      let described: [String: any Sendable] = ["user_id": id, "cost": 1, "description": characterWithMarks]
      #expect(try await service.post("/internal/credits/spend", described).status == 422)
      let granted = try await service.post("/internal/credits/grant", ["user_id": id, "amount": 1_000_000_000])
      #expect(granted.int("balance_after") == 1_000_000_050)
    }
  }

  @Test func onlyInsidersAndThoseWithTheScopeMayMoveCredits() async throws {
    try await withStack(.sqlite) { stack in
      let alice = try await stack.signIn("alice")
      let body: [String: any Sendable] = ["user_id": alice.id.description, "cost": 1, "amount": 1]
      for route in ["/internal/credits/spend", "/internal/credits/grant"] {
        for key in ["plain", "sync+act", "gateway"] {
          #expect(try await stack.credits.with(stack.with(key: key)).post(route, body).status == 403, "\(key)")
        }
        #expect(try await stack.credits.bearing(alice.access).post(route, body).status == 403)
        #expect(try await stack.gateway.with(stack.with(key: "invites")).post(route, body).status == 404)
        #expect(try await stack.credits.with(stack.with(key: "billing+credits")).post(route, body).status == 200)
      }
      #expect(try await stack.gateway.post("/api/v1/credits/admin/grant", body).status == 403)
    }
  }

  @Test(arguments: engines) func theLedgerCannotBeRewritten(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      _ = try await alice.browser.get("/api/v1/credits/balance")
      let database = try await stack.testDatabase.open("credits", [])
      for statement in [
        "update ledger_posting set amount = 1000", "delete from ledger_posting", "delete from ledger_operation",
        "update ledger_operation set type = 'refund'",
      ] as [SQL] {
        await #expect(throws: DatabaseFailure.refused("the ledger is append-only")) {
          try await database.write { try $0.change(statement) }
        }
      }
      await #expect {
        try await database.write { try $0.change("update ledger_account set balance = -1 where kind = 'user'") }
      } throws: { error in
        // Both are violated, and the engines check them in another order.
        ["ledger_account_not_negative", "ledger_account_over_held"].contains { error as? DatabaseFailure == .check($0) }
      }
      await database.close()
      #expect(try await ledgerSums(stack, of: alice.id) == (50, 0, 50))
    }
  }

  @Test(arguments: engines) func fiftyGrantsUnderOneKeyAreOne(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let browser = admin(stack).with(["Idempotency-Key": "top-up"])
      let body: [String: any Sendable] = ["user_id": alice.id.description, "amount": 7]
      let replies = try await atOnce(50) { _ in try await browser.post("/api/v1/credits/admin/grant", body) }
      #expect(replies.allSatisfy { $0.status == 200 && $0.int("balance") == 57 })
      #expect(replies.count { $0.headers.first(name: "idempotency-hit") == "true" } == 49)
      #expect(try await ledgerSums(stack, of: alice.id) == (57, 0, 57))
    }
  }
}
