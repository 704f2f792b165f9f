import Database
import Support
import Testing
import Wire

/// Who is let into the topics of a hunt while it is made.
@Suite struct NewHuntEventTests {
  /// The members are asked for before the transaction that makes the hunt, and once more after it.
  @Test(arguments: engines) func aHuntIsOpenToWhoJoinedTheGroupWhileItWasMade(_ engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let group = try await stack.makeGroup(alice, with: [bob])
      let rows = SQL(stringLiteral: "group_reader where user_id = '\(bob.id)'")
      try await eventually("bob among the readers") { try await stack.count(rows, in: "adventures") == 1 }
      let proxy = OutdatedReadersProxy(before: stack.groups, without: bob.id)
      try await running([proxy.server()]) {
        stack.dependencies.serviceAddresses.set(.groups, to: try await proxy.url)
        let hunt = try await alice.makeHunt(group: group.id)
        let topic = "scavenger_hunts:\(hunt.id)"
        let grant = AccessChange(topic: topic, user: bob.id, mayRead: true)
        try await eventually("the hunt for bob") {
          receiver.events(on: "users:\(bob.id)").contains { $0.name == "hunts_shown" && $0.access == [grant] }
        }
        // The premise: the hunt's own event did not let him in.
        let created = try #require(receiver.events(on: topic).first { $0.name == "hunt_created" })
        #expect(created.access?.contains(grant) == false && proxy.questions >= 2)
        #expect(receiver.events(on: "users:\(alice.id)").allSatisfy { $0.name != "hunts_shown" })
        stack.dependencies.serviceAddresses.set(.groups, to: stack.groups.base)
      }
    }
  }

  @Test(arguments: engines) func aHuntIsClosedToWhoLeftTheGroupWhileItWasMade(_ engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let group = try await stack.makeGroup(alice, with: [bob])
      let rows = SQL(stringLiteral: "group_reader where user_id = '\(bob.id)'")
      try await eventually("bob among the readers") { try await stack.count(rows, in: "adventures") == 1 }
      try await alice.remove(bob, from: group)
      try await eventually("bob's end") { try await stack.count(rows, in: "adventures") == 0 }
      let proxy = OutdatedReadersProxy(before: stack.groups, with: bob.id)
      try await running([proxy.server()]) {
        stack.dependencies.serviceAddresses.set(.groups, to: try await proxy.url)
        // With a key, too, all of it is done.
        let made = try await alice.browser.with(["Idempotency-Key": "once", "Prefer": "return=representation"])
          .send(.POST, "/rest/v1/scavenger_hunts", json: ["title": "City", "group_id": group.id])
        let topic = "scavenger_hunts:\(made.list.first?.text("id") ?? "")"
        let end = AccessChange(topic: topic, user: bob.id, mayRead: false)
        try await eventually("the end of bob's right") {
          receiver.events(on: "users:\(bob.id)").contains { $0.name == "hunts_hidden" && $0.access == [end] }
        }
        // The premise: the hunt's own event has let him in.
        let created = try #require(receiver.events(on: topic).first { $0.name == "hunt_created" })
        let grant = AccessChange(topic: topic, user: bob.id, mayRead: true)
        #expect(created.access?.contains(grant) == true && proxy.questions >= 2)
        stack.dependencies.serviceAddresses.set(.groups, to: stack.groups.base)
      }
    }
  }
}
