import Database
import Foundation
import Support
import Testing
import Tokens
import Web
import Wire

/// Two requests with one idempotency key have one effect and one response.
@Suite struct IdempotencyTests {
  @Test(arguments: engines) func theSameAnswerComesAgain(engine: Engine) async throws {
    try await withIdempotency(engine) { fixture in
      let first = try await fixture.once(idempotentCall())
      let second = try await fixture.once(idempotentCall())
      #expect((first.status, first.isRepeated, second.isRepeated) == (201, false, true))
      #expect(first.body == second.body && second.status == 201)
      await #expect(throws: Failure.idempotencyKeyReused) { _ = try await fixture.once(idempotentCall(body: "{1}")) }
      #expect(try await fixture.effects() == 1)
      #expect(try await fixture.once(idempotentCall(by: "bob")).isRepeated == false)
      #expect(try await fixture.once(idempotentCall(to: "b")).isRepeated == false)
      #expect(try await fixture.effects() == 3)
    }
  }

  @Test(arguments: engines) func fiftyAtOnceHaveOneEffect(engine: Engine) async throws {
    try await withIdempotency(engine) { fixture in
      let call = idempotentCall()
      let replies = try await atOnce(50) { _ in try await fixture.once(call) }
      #expect(Set(replies.map(\.body)).count == 1)
      #expect(replies.count { !$0.isRepeated } == 1)
      #expect(try await fixture.effects() == 1)
    }
  }

  @Test(arguments: engines) func aDayLaterItIsForgotten(engine: Engine) async throws {
    try await withIdempotency(engine) { fixture in
      _ = try await fixture.once(idempotentCall())
      fixture.clock.advance(by: .seconds(86_300))
      #expect(try await fixture.idempotency.sweep() == 0)
      #expect(try await fixture.once(idempotentCall()).isRepeated)
      fixture.clock.advance(by: .seconds(110))
      #expect(try await fixture.once(idempotentCall()).isRepeated == false)
      fixture.clock.advance(by: .seconds(86_410))
      #expect(try await fixture.idempotency.sweep() == 1)
      #expect(try await fixture.database.read { try $0.rows("select caller from idempotency_key").count } == 0)
    }
  }

  @Test(arguments: engines) func refusalsAreKeptAndFaultsAreNot(engine: Engine) async throws {
    try await withIdempotency(engine) { fixture in
      let refusal = try await fixture.once(idempotentCall()) { _ in throw Failure.insufficientCredits(cost: 3) }
      #expect((refusal.status, refusal.isRepeated) == (402, false))
      let again = try await fixture.once(idempotentCall())
      #expect((again.status, again.isRepeated, again.body == refusal.body) == (402, true, true))
      for fault in [Failure.broken, .unavailable, .unauthorized] {
        await #expect(throws: fault) { _ = try await fixture.once(idempotentCall("other")) { _ in throw fault } }
      }
      #expect(try await fixture.effects() == 0)
      #expect(try await fixture.once(idempotentCall("other")).status == 201)
    }
  }

  @Test(arguments: engines) func aLapsedClaimIsTakenOver(engine: Engine) async throws {
    try await withIdempotency(engine) { fixture in
      let call = idempotentCall()
      let effect: @Sendable (String, any Connection) throws -> Reply = { name, db in
        try db.change("insert into effect (name) values (\(name))")
        return try .json([name])
      }
      var refusals: [Failure] = []
      do {
        _ = try await fixture.idempotency.claimed(call) {
          do { _ = try await fixture.once(call) } catch let failure as Failure { refusals.append(failure) }
          fixture.clock.advance(by: .seconds(61))
          _ = try await fixture.idempotency.claimed(call, steps: { "second" }, effect: effect)
          return "late"
        } effect: {
          try effect($0, $1)
        }
      } catch let failure as Failure { refusals.append(failure) }
      #expect(refusals == [.idempotencyKeyInUse, .idempotencyKeyInUse])
      #expect(try await fixture.effects() == 1)
      let reply = try await fixture.idempotency.claimed(call, steps: { "third" }, effect: effect)
      #expect(reply.isRepeated && String(decoding: reply.body, as: UTF8.self).contains("second"))
      // A server fault releases the claim at once.
      let other = idempotentCall("other")
      await #expect(throws: Failure.broken) {
        _ = try await fixture.idempotency.claimed(other, steps: { throw Failure.broken }) { (_: Int, _) in
          try .json(1)
        }
      }
      #expect(try await fixture.idempotency.claimed(other, steps: { "it" }, effect: effect).isRepeated == false)
    }
  }

  /// At its deadline a request is cancelled, and the next one with its key does not wait for a minute.
  @Test(arguments: engines) func aRequestThatIsCancelledEndsItsClaim(engine: Engine) async throws {
    try await withIdempotency(engine) { fixture in
      @Sendable func cancelled(_ call: IdempotentCall, throwing error: any Error) async throws -> Reply {
        try await Task {
          try await fixture.idempotency.claimed(call) { () -> Int in
            withUnsafeCurrentTask { $0?.cancel() }
            throw error
          } effect: { number, _ in
            try .json(number)
          }
        }.value
      }
      let call = idempotentCall()
      await #expect(throws: CancellationError.self) { _ = try await cancelled(call, throwing: CancellationError()) }
      let reply = try await fixture.idempotency.claimed(call, steps: { 1 }) { number, _ in try .json(number) }
      #expect(reply.status == 200 && !reply.isRepeated)
      // A permanent failure is the reply.
      let (other, taken) = (idempotentCall("other"), Failure(.conflict, "taken", "It is taken."))
      #expect(try await cancelled(other, throwing: taken).status == 409)
      #expect(try await fixture.once(other).isRepeated)
    }
  }

  @Test(arguments: engines) func theTableTellsNothingAndKeysRotate(engine: Engine) async throws {
    try await withTestDatabase(engine) { testDatabase in
      let fixture = try await IdempotencyFixture(testDatabase, secrets: ["the old key"])
      let first = try await fixture.once(idempotentCall())
      let row = try #require(
        try await fixture.database.read { try $0.row("select key_hash, body_hash, reply from idempotency_key") })
      for column in ["key_hash", "body_hash", "reply"] {
        let text = String(decoding: try row.get(column, as: [UInt8].self), as: UTF8.self)
        #expect(!text.contains("secret-key") && !text.contains("token"))
      }
      await fixture.database.close()
      let rotated = try await IdempotencyFixture(testDatabase, secrets: ["the new key", "the old key"])
      #expect(try await rotated.once(idempotentCall()).body == first.body)
      #expect(try await rotated.effects() == 1)
      await rotated.database.close()
    }
  }

  @Test(arguments: engines) func grantsUnderAKeyAnswerAsBefore(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let admin = stack.gateway.with(["X-Admin-Key": TestStack.adminKey, "Idempotency-Key": "k1"])
      let service = stack.credits.with(stack.with(key: "invites")).with(["Idempotency-Key": "k1"])
      let path = "/api/v1/credits/admin/grant"
      let first = try await admin.post(path, ["user_id": alice.id.description, "amount": 7])
      _ = try await admin.with(["Idempotency-Key": "k2"]).post(path, ["user_id": alice.id.description, "amount": 1])
      let second = try await admin.post(path, ["user_id": alice.id.description, "amount": 7])
      #expect((first.status, second.status, second.body == first.body) == (200, 200, true))
      #expect(!first.headers.contains(name: "idempotency-hit") && second.headers.contains(name: "idempotency-hit"))
      let other = try await admin.post(path, ["user_id": alice.id.description, "amount": 8])
      #expect((other.status, other.string("code")) == (422, "idempotency_key_reused"))
      let bad = try await admin.with(["Idempotency-Key": "a b"]).post(path, ["amount": 8])
      #expect((bad.status, bad.string("code")) == (400, "invalid_idempotency_key"))
      let spent = try await service.post("/internal/credits/spend", ["user_id": alice.id.description, "cost": 8])
      let granted = try await service.post("/internal/credits/grant", ["user_id": alice.id.description, "amount": 8])
      #expect((spent.int("balance_after"), granted.int("balance_after")) == (50, 58))
      let body: [String: any Sendable] = ["user_id": UserID.new(at: Date()).description, "amount": 1]
      let refused = try await admin.with(["Idempotency-Key": "k3"]).post(path, body)
      let again = try await admin.with(["Idempotency-Key": "k3"]).post(path, body)
      #expect((refused.status, again.status, again.body == refused.body) == (404, 404, true))
      #expect(again.headers.first(name: "idempotency-hit") == "true")
    }
  }
}
