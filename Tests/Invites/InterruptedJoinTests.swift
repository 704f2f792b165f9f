import Database
import Foundation
import Support
import Testing
import Web
import Wire

@testable import Invites

/// Joins that a crash or an outage has interrupted.
@Suite struct InterruptedJoinTests {
  /// Claims as a request does whose process crashes right afterwards.
  private func claim(_ link: ShareLink, _ user: UserID, _ stack: TestStack) async throws {
    _ = try await stack.claim(try #require(InviteID(link.id, prefix: .invite)), user)
  }

  private func unfinished(_ stack: TestStack) async throws -> Int { try await uses(stack, "due_at is not null") }

  private func uses(_ stack: TestStack, _ condition: SQL) async throws -> Int {
    try await stack.count("invite_use where \(condition)", in: "invites")
  }

  @Test(arguments: engines) func aClaimWithoutAProcessIsFinishedWithinAMinute(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let collection = try await alice.collection()
      let link = try await alice.link(to: collection)
      try await claim(link, bob.id, stack)
      #expect(try await bob.role(in: collection) == nil)
      stack.clock.advance(by: .seconds(30))
      try await eventually("bob in the collection") { try await bob.role(in: collection) == "VIEW_ONLY" }
      try await eventually("the end of it") { try await unfinished(stack) == 0 }
      // Bob never got a response: he may request it once more.
      let answered = try await bob.accept(link)
      #expect(answered.status == 200 && answered.data["role"] as? String == "VIEW_ONLY")
      #expect(try await bob.accept(link).status == 409)
      #expect(try await uses(stack, "state = 'joined'") == 1)
    }
  }

  @Test(arguments: engines) func whoeverWasCutOffTakesUpTheirClaimAgain(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob, carol) = (
        try await stack.signIn("alice"), try await stack.signIn("bob"), try await stack.signIn("carol")
      )
      let collection = try await alice.collection()
      let link = try await alice.link(to: collection)
      try await claim(link, bob.id, stack)
      #expect(try await carol.accept(link).status == 409)
      #expect(try await carol.reject(link).status == 409)
      stack.clock.advance(by: .seconds(16))
      let statuses = try await atOnce(20) { _ in try await bob.accept(link).status }
      #expect(statuses.count { $0 == 200 } == 1)
      #expect(statuses.count { $0 == 409 } == 19)
      #expect(try await bob.role(in: collection) == "VIEW_ONLY")
    }
  }

  @Test(arguments: engines) func whenTheOtherServiceIsAwayTheWorkerGoesOn(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let collection = try await alice.collection()
      let link = try await alice.link(to: collection)
      let serviceAddresses = stack.dependencies.serviceAddresses
      let groups = serviceAddresses.urls(of: .groups)
      serviceAddresses.set(.groups, to: "http://127.0.0.1:9")
      let refused = try await bob.accept(link)
      #expect(refused.status == 503)
      #expect(try await unfinished(stack) == 1)
      serviceAddresses.set(.groups, to: groups)
      stack.clock.advance(by: .seconds(60))
      try await eventually("bob in the collection") { try await bob.role(in: collection) == "VIEW_ONLY" }
      try await eventually("the end of it") { try await unfinished(stack) == 0 }
      #expect(try await bob.accept(link).status == 200)
    }
  }

  /// A process without the route, because it is older or another service, proves nothing about the collection.
  @Test(arguments: engines) func anInviteOutlivesAWrongAddress(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let collection = try await alice.collection()
      let (taken, open) = (try await alice.link(to: collection), try await alice.link(to: collection))
      let serviceAddresses = stack.dependencies.serviceAddresses
      let groups = serviceAddresses.urls(of: .groups)
      serviceAddresses.set(.groups, to: serviceAddresses.urls(of: .credits))
      #expect(try await bob.accept(taken).status == 503)
      try await eventually("the worker's try") { try await uses(stack, "tries > 0") == 1 }
      #expect(try await stack.gateway.get("/invite/\(open.token)").status == 503)
      serviceAddresses.set(.groups, to: groups)
      stack.clock.advance(by: .seconds(60))
      try await eventually("bob in the collection") { try await bob.role(in: collection) == "VIEW_ONLY" }
      #expect(try await bob.accept(taken).status == 200)
      #expect(try await stack.resolve(open).data["status"] as? String == "PENDING")
    }
  }

  @Test(arguments: engines) func whatCannotBeFinishedIsUndone(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let collection = try await alice.collection()
      let link = try await alice.link(to: collection)
      try await claim(link, bob.id, stack)
      #expect(try await alice.browser.delete("/collections/\(collection)").status == 204)
      stack.clock.advance(by: .seconds(30))
      try await eventually("nothing claimed") { try await uses(stack, "true") == 0 }
      #expect(try await bob.accept(link).status == 409)
      #expect(try await stack.resolve(link).status == 410)
    }
  }

  @Test(arguments: engines) func theInviterIsToldOfWhatWasFinishedAndNotOfWhatWasUndone(engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let (kept, deleted) = (try await alice.collection(), try await alice.collection("Lost Marbles"))
      let (finished, undone) = (try await alice.link(to: kept), try await alice.link(to: deleted))
      for link in [undone, finished] { try await claim(link, bob.id, stack) }
      #expect(try await alice.browser.delete("/collections/\(deleted)").status == 204)
      stack.clock.advance(by: .seconds(30))
      try await eventually("the end of both") {
        let (left, joined) = (try await unfinished(stack), try await uses(stack, "state = 'joined'"))
        return left == 0 && joined == 1
      }
      #expect(try await uses(stack, "true") == 1)
      try await eventually("the delivery") { try await stack.count("event_outbox", in: "invites") == 0 }
      let accepted = receiver.events.filter { $0.name == "invite_accepted" }
      #expect(accepted.compactMap { $0.payload["collection_id"] } == [.string(kept)])
      #expect(accepted.map(\.topics) == [["users:\(alice.id)"]])
    }
  }
}
