import Database
import Foundation
import Support
import Testing
import Wire

/// Whoever is let into a topic may read it as soon as the events service knows since when.
@Suite struct GrantDeliveryTests {
  private func list(of owner: SignedInUser) async throws -> Int {
    try await owner.browser.done(.POST, "/api/v1/lists", ["list": ["name": "Groceries"]]).id(of: "list")
  }

  /// Lets bob in.
  private func addBob(to list: Int, by owner: SignedInUser) async throws {
    try await owner.browser.done(
      .POST, "/api/v1/lists/\(list)/memberships",
      ["membership": ["user_identifier": "bob@example.com", "role": "viewer"]])
  }

  /// What lists answers to events.
  private func access(of user: SignedInUser, to list: Int, _ stack: TestStack) async throws -> Browser.Reply {
    try await stack.lists.with(stack.with(key: "events"))
      .get("/internal/topics/access?topic=lists:\(list)&user_id=\(user.id)")
  }

  @Test(arguments: engines) func theAnswerWaitsForTheEventThatLetsIn(_ engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let list = try await list(of: alice)
      try await eventually("the delivery") { try await stack.count("event_outbox", in: "lists") == 0 }
      receiver.behavior = .hanging
      try await addBob(to: list, by: alice)
      let isAnswered = Flag()
      let answer = Task {
        let reply = try await access(of: bob, to: list, stack)
        isAnswered.raise()
        return reply
      }
      try await Task.sleep(for: .milliseconds(200))
      // Nobody else waits.
      #expect(try await access(of: alice, to: list, stack).bool("read") == true)
      #expect(!isAnswered.isRaised)
      receiver.behavior = .normal
      #expect(try await answer.value.bool("read") == true)
      #expect(receiver.names(on: "lists:\(list)") == ["member_joined"])
    }
  }

  /// Those who listen to all topics are sent what is delivered from then on, also what is from before they were let in.
  @Test(arguments: engines) func theListOfTopicsWaitsForTheEventThatLetsIn(_ engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let list = try await list(of: alice)
      try await eventually("the delivery") { try await stack.count("event_outbox", in: "lists") == 0 }
      func topics(of user: SignedInUser) async throws -> [String]? {
        let events = stack.lists.with(stack.with(key: "events"))
        return try await events.done(.GET, "/internal/topics?user_id=\(user.id)")["topics"] as? [String]
      }
      receiver.behavior = .hanging
      // While bob is in no list there is nothing to wait for.
      #expect(try await topics(of: bob) == [])
      try await addBob(to: list, by: alice)
      let isAnswered = Flag()
      let answer = Task {
        let found = try await topics(of: bob)
        isAnswered.raise()
        return found
      }
      try await Task.sleep(for: .milliseconds(200))
      #expect(try await topics(of: alice) == ["lists:\(list)"])
      #expect(!isAnswered.isRaised)
      receiver.behavior = .normal
      #expect(try await answer.value == ["lists:\(list)"])
      #expect(receiver.names(on: "lists:\(list)") == ["member_joined"])
    }
  }

  /// A reset has the rights of the events whose place it takes.
  @Test(arguments: engines) func theAnswerWaitsForTheResetThatLetsIn(_ engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let list = try await list(of: alice)
      try await eventually("the delivery") { try await stack.count("event_outbox", in: "lists") == 0 }
      receiver.behavior = .unavailable
      try await addBob(to: list, by: alice)
      // Too late for the event itself.
      stack.clock.advance(by: .seconds(90_000))
      try await eventually("the reset") { try await stack.count("event_outbox where is_reset", in: "lists") == 1 }
      #expect(try await access(of: bob, to: list, stack).status == 503)
      #expect(try await access(of: alice, to: list, stack).bool("read") == true)
      receiver.behavior = .normal
      try await eventually("the right") { try await access(of: bob, to: list, stack).bool("read") == true }
      let reset = try #require(receiver.events(on: "lists:\(list)").last)
      #expect(reset.name == "reset")
      #expect(reset.access == [AccessChange(topic: "lists:\(list)", user: bob.id, mayRead: true)])
    }
  }

  @Test(arguments: engines) func whileItCannotBeDeliveredNobodyIsToldThatTheyMayRead(_ engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let list = try await list(of: alice)
      #expect(try await access(of: bob, to: list, stack).bool("read") == false)
      receiver.behavior = .unavailable
      try await addBob(to: list, by: alice)
      #expect(try await access(of: bob, to: list, stack).status == 503)
      receiver.behavior = .normal
      try await eventually("the right") { try await access(of: bob, to: list, stack).bool("read") == true }
    }
  }

  @Test(arguments: engines) func whoJoinsAtOnceIsSentNothingOfBefore(_ engine: Engine) async throws {
    try await withStack(engine, TestStack.eventsURL) { stack in
      let alice = try await stack.signIn("alice")
      let bob = try await ChannelListener(stack.signIn("bob"), stack)
      for number in 1...8 {
        let list = try await list(of: alice)
        let topic = "lists:\(list)"
        let task = try await alice.browser.done(
          .POST, "/api/v1/lists/\(list)/tasks", ["task": ["title": "A present for bob"]]
        ).id(of: "task")
        try await alice.browser.done(.DELETE, "/api/v1/tasks/\(task)")
        try await addBob(to: list, by: alice)
        if number.isMultiple(of: 2) {
          try await bob.join(topic)
          let gap = try await bob.payload("gap", on: topic)
          #expect(gap["oldest"] == .integer(3) && bob.names(on: topic) == ["gap"])
        } else {
          var stream = try await EventStreamClient(
            stack.events, "topic=\(topic)", token: bob.user.access, lastEventID: "0")
          let gap = try #require(try await stream.next())
          #expect(gap.name == "gap" && gap.json["oldest"] as? Int == 3)
        }
      }
    }
  }

  /// On a channel of all rows, which has no numbers.
  @Test(arguments: engines) func whoListensToEverythingIsSentTheRowsFromThenOn(_ engine: Engine) async throws {
    try await withStack(engine, TestStack.eventsURL) { stack in
      let alice = try await stack.signIn("alice")
      let bob = try await ChannelListener(stack.signIn("bob"), stack)
      for number in 1...5 {
        let list = try await list(of: alice)
        func add(_ title: String) async throws -> Int {
          try await alice.browser.done(.POST, "/api/v1/lists/\(list)/tasks", ["task": ["title": title]]).id(of: "task")
        }
        let present = try await add("A present for bob")
        try await alice.browser.done(.DELETE, "/api/v1/tasks/\(present)")
        try await addBob(to: list, by: alice)
        let reply = try await bob.socket.join(
          "realtime:any name", bob.user.access, #""postgres_changes":[{"event":"*","schema":"*","table":"tasks"}]"#)
        #expect(reply.status == "ok")
        let task = try await add("Milk")
        try await eventually("the task \(number)") {
          bob.changes(on: "any name").contains { $0["record"]?["id"] == .integer(task) }
        }
        // What came before the reply to the join is of the channel that it has replaced.
        #expect(bob.changes(on: "any name").count == 1)
        #expect(!bob.received.contains("A present for bob"))
      }
    }
  }

  /// Adventures knows the members of a group before it is told that they have joined.
  @Test(arguments: engines) func whoJoinsAGroupIsSentNothingOfItsHuntsOfBefore(_ engine: Engine) async throws {
    try await withStack(engine, TestStack.eventsURL) { stack in
      let alice = try await stack.signIn("alice")
      let bob = try await ChannelListener(stack.signIn("bob"), stack)
      for _ in 1...5 {
        let group = try await alice.rest(.POST, "social_groups", ["name": "Ours"]).first
        let hunt = try await alice.draftHunt(of: group?["id"] as? String)
        try await alice.rest(.PATCH, "scavenger_hunts?id=eq.\(hunt.id)", ["title": "A present for bob"])
        try await alice.rest(.PATCH, "scavenger_hunts?id=eq.\(hunt.id)", ["title": "Town"])
        let code = JSONValue.string(group?["invite_code"] as? String ?? "")
        try await bob.user.rest(.POST, "social_groups/join", ["invite_code": code])
        let topic = "scavenger_hunts:\(hunt.id)"
        // `try?`: refused while adventures still has the groups from before.
        try await eventually("the right") { (try? await bob.join(topic)) != nil }
        let gap = try await bob.payload("gap", on: topic)
        #expect(gap["oldest"] == .integer(5) && bob.names(on: topic) == ["gap"])
        try await alice.rest(.PATCH, "scavenger_hunts?id=eq.\(hunt.id)", ["title": "City"])
        _ = try await bob.event("hunt_changed", on: topic)
        #expect(bob.names(on: topic) == ["gap", "hunt_changed"])
      }
    }
  }
}
