import Database
import Foundation
import Support
import Testing
import Web
import Wire

/// Concurrent requests with one idempotency key: one of them commits, the others return its reply.
@Suite struct IdempotencyRaceTests {
  private static let alreadyDone = Failure(.conflict, "already_done", "It is done already.")

  @Test(arguments: engines) func ofTwoRequestsUnderOneKeyOneHasAnEffect(engine: Engine) async throws {
    try await withIdempotency(engine) { fixture in
      let replies = try await atOnce(50) { index -> Reply? in
        do { return try await fixture.once(idempotentCall(body: "\(index % 2)")) } catch let failure as Failure {
          #expect(failure == .idempotencyKeyReused)
          return nil
        }
      }
      #expect(replies.count { $0 == nil } == 25)
      #expect(Set(replies.compactMap { $0?.body }).count == 1)
      #expect(try await fixture.effects() == 1)
    }
  }

  @Test(arguments: engines) func aForgottenKeyIsUsedAgainOnce(engine: Engine) async throws {
    try await withIdempotency(engine) { fixture in
      let first = try await fixture.once(idempotentCall())
      fixture.clock.advance(by: .seconds(86_410))
      let replies = try await atOnce(50) { _ in try await fixture.once(idempotentCall()) }
      #expect(Set(replies.map(\.body)).count == 1 && replies[0].body != first.body)
      #expect(replies.count { !$0.isRepeated } == 1)
      #expect(try await fixture.effects() == 2)
    }
  }

  /// The effect of the first makes the effect of the others fail.
  @Test(arguments: engines) func whoCannotDoItAgainHearsThatItIsDone(engine: Engine) async throws {
    try await withIdempotency(engine) { fixture in
      try await fixture.database.write { try $0.change("create unique index effect_name on effect (name)") }
      let replies = try await atOnce(50) { _ in
        try await fixture.idempotency.once(idempotentCall()) { db in
          do { try db.change("insert into effect (name) values ('it')") } catch DatabaseFailure.unique {
            throw Self.alreadyDone
          }
          return try .json(["token": UUID().uuidString], status: .created)
        }
      }
      #expect(replies.allSatisfy { $0.status == 201 } && Set(replies.map(\.body)).count == 1)
      #expect(replies.count { !$0.isRepeated } == 1)
      let other = try await fixture.idempotency.once(idempotentCall("other")) { _ in throw Self.alreadyDone }
      #expect(other.status == 409 && !other.isRepeated)
    }
  }

  @Test(arguments: engines) func ofManyRefusalsOneIsKept(engine: Engine) async throws {
    try await withIdempotency(engine) { fixture in
      let replies = try await atOnce(50) { index in
        try await fixture.once(idempotentCall(requestID: "r\(index)")) { _ in
          throw Failure.insufficientCredits(cost: 3)
        }
      }
      #expect(replies.allSatisfy { $0.status == 402 } && Set(replies.map(\.body)).count == 1)
      #expect(replies.count { !$0.isRepeated } == 1)
      #expect(try await fixture.effects() == 0)
    }
  }

  @Test(arguments: engines) func oneOfManyClaimsTheKey(engine: Engine) async throws {
    try await withIdempotency(engine) { fixture in
      let replies = try await atOnce(50) { _ -> Reply? in
        do {
          return try await fixture.idempotency.claimed(idempotentCall()) {
            UUID().uuidString
          } effect: { token, db in
            try db.change("insert into effect (name) values ('it')")
            return try .json([token])
          }
        } catch let failure as Failure {
          #expect(failure == .idempotencyKeyInUse)
          return nil
        }
      }
      #expect(Set(replies.compactMap { $0?.body }).count == 1)
      #expect(replies.count { $0?.isRepeated == false } == 1)
      #expect(try await fixture.effects() == 1)
    }
  }

  @Test(arguments: engines) func aKeyOfTheDaysBeforeARotationIsKnown(engine: Engine) async throws {
    try await withTestDatabase(engine) { testDatabase in
      let old = try await IdempotencyFixture(testDatabase, secrets: ["the old key"])
      let first = try await old.once(idempotentCall())
      await old.database.close()
      let fixture = try await IdempotencyFixture(testDatabase, secrets: ["the new key", "the old key"])
      let repeated = try await atOnce(50) { _ in try await fixture.once(idempotentCall()) }
      #expect(repeated.allSatisfy { $0.isRepeated && $0.body == first.body })
      await #expect(throws: Failure.idempotencyKeyReused) {
        _ = try await fixture.once(idempotentCall(body: "another"))
      }
      // The expired record under the old key gives way to one under the new key.
      fixture.clock.advance(by: .seconds(86_410))
      let replies = try await atOnce(50) { _ in try await fixture.once(idempotentCall()) }
      #expect(Set(replies.map(\.body)).count == 1 && replies[0].body != first.body)
      #expect(try await fixture.effects() == 2)
      #expect(try await fixture.database.read { try $0.rows("select caller from idempotency_key").count } == 1)
      await fixture.database.close()
    }
  }

  @Test(arguments: engines) func aRepetitionMakesNoCalls(engine: Engine) async throws {
    try await withIdempotency(engine) { fixture in
      let effect: @Sendable (Int, any Connection) throws -> Reply = { number, db in
        try db.change("insert into effect (name) values ('it')")
        return try .json([number])
      }
      let replies = try await atOnce(50) { index in
        try await fixture.idempotency.once(idempotentCall(), check: { index }, effect: effect)
      }
      #expect(Set(replies.map(\.body)).count == 1)
      #expect(try await fixture.effects() == 1)
      let again = try await fixture.idempotency.once(
        idempotentCall(), check: { throw Failure.unavailable }, effect: effect)
      #expect(again.isRepeated && again.body == replies[0].body)
      // A refusal by the check is kept, too.
      for isRepeated in [false, true] {
        let refused = try await fixture.idempotency.once(
          idempotentCall("other"), check: { throw Failure.userNotFound }, effect: effect)
        #expect((refused.status, refused.isRepeated) == (404, isRepeated))
      }
    }
  }

  /// The whole balance is spent by the first, and the others do not hear that it is too small.
  @Test(arguments: engines) func fiftySpendsUnderOneKeyAreOne(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let service = stack.credits.with(stack.with(key: "invites"))
      let body: [String: any Sendable] = ["user_id": alice.id.description, "cost": 25]
      for key in ["first", "second", "third"] {
        let replies = try await atOnce(50) { _ in
          try await service.with(["Idempotency-Key": key]).post("/internal/credits/spend", body)
        }
        #expect(replies.allSatisfy { $0.status == 200 } && Set(replies.map(\.body)).count == 1)
        #expect(replies.count { $0.headers.first(name: "idempotency-hit") == "true" } == 49)
        #expect(replies[0].bool("success") == (key != "third"))
      }
      #expect(try await service.get("/internal/credits/check?user_id=\(alice.id)").int("balance") == 0)
    }
  }
}
