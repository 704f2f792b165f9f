import Database
import Foundation
import Support
import Testing
import Wire

/// How soon a channel is closed whose reader may read it no longer. Services look for work by themselves only once in
/// an hour here, so each step is woken up by the one before it. The fastest of a few attempts counts, as a busy machine
/// is slow in all: a step that nothing wakes up takes eight seconds or an hour.
@Suite struct PromptEndTests {
  private static let attempts = 5

  private func withPromptStack(_ engine: Engine, _ body: (TestStack) async throws -> Void) async throws {
    try await withStack(engine, TestStack.eventsURL, pollInterval: .seconds(3600), body)
  }

  /// The shortest time of a few attempts, or the first one that reaches the goal.
  private func fastest(
    _ goal: Duration, _ attempt: () async throws -> Duration
  ) async throws -> Duration {
    var fastest = Duration.seconds(3600)
    for _ in 0..<Self.attempts where fastest > goal { fastest = min(fastest, try await attempt()) }
    return fastest
  }

  private func time(_ action: () async throws -> Void, until end: () async throws -> Void) async throws -> Duration {
    try await action()
    let start = ContinuousClock.now
    try await end()
    return .now - start
  }

  @Test(arguments: engines) func whoIsRemovedFromAListLosesItsChannelWithinSeconds(_ engine: Engine) async throws {
    try await withPromptStack(engine) { stack in
      let alice = try await stack.signIn("alice").browser
      let bob = try await ChannelListener(stack.signIn("bob"), stack)
      let taken = try await fastest(.seconds(1)) {
        let list = try await alice.done(.POST, "/api/v1/lists", ["list": ["name": "Groceries"]]).id(of: "list")
        let path = "/api/v1/lists/\(list)/memberships"
        let member = try await alice.done(
          .POST, path, ["membership": ["user_identifier": "bob@example.com", "role": "editor"]]
        ).id(of: "membership")
        try await bob.join("lists:\(list)")
        return try await time {
          try await alice.done(.DELETE, "\(path)/\(member)")
        } until: {
          let reason = try await bob.end(of: "lists:\(list)")
          #expect(reason == "You no longer have permission to read from this Channel topic: lists:\(list)")
        }
      }
      #expect(taken < .seconds(1))
    }
  }

  @Test(arguments: engines) func aSessionThatEndsTakesItsChannelsAlongWithinSeconds(_ engine: Engine) async throws {
    try await withPromptStack(engine) { stack in
      let taken = try await fastest(.seconds(2)) {
        let alice = try await ChannelListener(stack.signIn("alice"), stack)
        let topic = "saved_places:\(alice.user.id)"
        try await alice.join(topic)
        return try await time {
          try await stack.gateway.done(.POST, "/api/v1/auth/logout", ["refresh_token": alice.user.refresh])
        } until: {
          let reason = try await alice.end(of: topic)
          #expect(reason == "The session has ended")
        }
      }
      #expect(taken < .seconds(2))
    }
  }

  @Test(arguments: engines) func aTokenThatExpiresTakesItsChannelsAlongWithinSeconds(_ engine: Engine) async throws {
    try await withPromptStack(engine) { stack in
      let taken = try await fastest(.seconds(2)) {
        let alice = try await ChannelListener(stack.signIn("alice"), stack)
        let topic = "saved_places:\(alice.user.id)"
        try await alice.join(topic)
        return try await time {
          stack.clock.advance(by: .seconds(16 * 60))
        } until: {
          let reason = try await alice.end(of: topic)
          #expect(reason == "Token has expired")
        }
      }
      #expect(taken < .seconds(2))
    }
  }

  private func end(of stream: EventStreamClient) async throws -> String? {
    var (stream, last) = (stream, EventStreamClient.Event())
    while let event = try await stream.next() { last = event }
    return last.name == "system" ? last.json["message"] as? String : nil
  }

  @Test(arguments: engines) func streamsEndAsSoonAsChannels(_ engine: Engine) async throws {
    try await withPromptStack(engine) { stack in
      let alice = try await stack.signIn("alice").browser
      func stream(_ topic: String, by user: SignedInUser) async throws -> EventStreamClient {
        var stream = try await EventStreamClient(stack.events, "topic=\(topic)", token: user.access)
        #expect(try await stream.nextBlock()?.id.isEmpty == false, "\(topic)")
        return stream
      }
      let removed = try await fastest(.seconds(1)) {
        let bob = try await stack.signIn("bob")
        let list = try await alice.done(.POST, "/api/v1/lists", ["list": ["name": "Groceries"]]).id(of: "list")
        let path = "/api/v1/lists/\(list)/memberships"
        let member = try await alice.done(
          .POST, path, ["membership": ["user_identifier": "bob@example.com", "role": "editor"]]
        ).id(of: "membership")
        let his = try await stream("lists:\(list)", by: bob)
        return try await time {
          try await alice.done(.DELETE, "\(path)/\(member)")
        } until: {
          let reason = try await end(of: his)
          #expect(reason == "You no longer have permission to read from this Channel topic: lists:\(list)")
        }
      }
      #expect(removed < .seconds(1))
      let ended = try await fastest(.seconds(2)) {
        let carol = try await stack.signIn("carol")
        let hers = try await stream("saved_places:\(carol.id)", by: carol)
        return try await time {
          try await stack.gateway.done(.POST, "/api/v1/auth/logout", ["refresh_token": carol.refresh])
        } until: {
          let reason = try await end(of: hers)
          #expect(reason == "The session has ended")
        }
      }
      #expect(ended < .seconds(2))
    }
  }
}
