import Database
import Foundation
import NIOHTTP1
import Support
import Testing

/// A POST to a table with an `Idempotency-Key`, which happens once and is answered alike.
@Suite struct IdempotentRestTests {
  @Test(arguments: engines) func theSameIsAnsweredAgainWithItsHeaders(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      for (number, prefer) in [nil, "return=minimal", "return=representation,count=exact"].enumerated() {
        let body = #"{"name": "Here \#(number)"}"#
        let first = try await post(alice, "saved_places", body, key: "k\(number)", prefer)
        #expect(first.status == 201 && first.headers.first(name: "idempotency-hit") == nil, "\(first.text)")
        let again = try await post(alice, "saved_places", body, key: "k\(number)", prefer)
        #expect(again.status == 201 && again.body == first.body)
        #expect(again.headers.first(name: "idempotency-hit") == "true")
        for name in ["content-type", "content-range", "location", "preference-applied"] {
          #expect(again.headers.first(name: name) == first.headers.first(name: name), "\(name) \(number)")
        }
        #expect(first.headers.first(name: "location") != nil || prefer != "return=minimal")
        let other = try await post(alice, "saved_places", #"{"name": "There"}"#, key: "k\(number)", prefer)
        #expect(other.status == 422, "\(other.text)")
      }
      #expect(try await alice.count("saved_places") == 3)
      // Another's key is another key.
      let bob = try await stack.signIn("bob")
      #expect(try await post(bob, "saved_places", #"{"name": "Here 0"}"#, key: "k0", nil).status == 201)
      #expect(try await bob.count("saved_places") == 1)
    }
  }

  @Test(arguments: engines) func aRefusalIsRepeatedWithoutBeingChecked(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let hunt = try await alice.makeHunt()
      let submission = #"{"checkpoint_id": "\#(hunt.checkpoints[0])"}"#
      let refused = try await post(bob, "checkpoint_submissions", submission, key: "s", nil)
      #expect(refused.status == 403 && refused.string("code") == "42501", "\(refused.text)")
      // Bob takes part now: the same request is answered as before, and another one as it is.
      #expect(try await bob.join(hunt).status == 200)
      let again = try await post(bob, "checkpoint_submissions", submission, key: "s", nil)
      #expect(again.status == 403 && again.body == refused.body)
      #expect(again.headers.first(name: "idempotency-hit") == "true")
      #expect(again.headers.first(name: "proxy-status") == "PostgREST; error=42501")
      #expect(again.headers.first(name: "content-type") == refused.headers.first(name: "content-type"))
      #expect(try await post(bob, "checkpoint_submissions", submission, key: "t", nil).status == 201)

      // What one may mend is not stored, and an answer is repeated while those who were asked are away.
      #expect(try await post(bob, "saved_places", "{", key: "u", nil).status == 400)
      #expect(try await post(bob, "saved_places", #"{"name": "x"}"#, key: "u", nil).status == 201)
      let end = stack.clock.now.addingTimeInterval(3600).formatted(.iso8601)
      let share = #"{"route_data": {}, "recipients": ["\#(bob.id)"], "expires_at": "\#(end)"}"#
      let shared = try await post(alice, "eta_shares", share, key: "e", nil)
      #expect(shared.status == 201, "\(shared.text)")
      let groups = stack.groups.base
      stack.dependencies.serviceAddresses.set(.groups, to: "http://127.0.0.1:1")
      let repeated = try await post(alice, "eta_shares", share, key: "e", nil)
      #expect(repeated.status == 201 && repeated.body == shared.body, "\(repeated.text)")
      stack.dependencies.serviceAddresses.set(.groups, to: groups)
      #expect(try await alice.count("eta_shares") == 1)
    }
  }

  private func post(
    _ user: SignedInUser, _ table: String, _ json: String, key: String, _ prefer: String?
  ) async throws -> Browser.Reply {
    let headers = ["Idempotency-Key": key].merging(prefer.map { ["Prefer": $0] } ?? [:]) { $1 }
    return try await user.browser.with(headers).send(.POST, "/rest/v1/\(table)", body: Data(json.utf8))
  }
}
