import Database
import Foundation
import Support
import Testing
import Wire

/// What happens while a channel is joined, and with which place and token.
@Suite struct JoinTests {
  /// Both happen while it is asked whether she may read the topic.
  @Test(arguments: engines) func whoIsRemovedAndAddedWhileJoiningHasAChannel(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let (alice, bob) = (try fixture.reader(of: "lists:42"), try fixture.reader(of: "lists:42"))
      // Less than the service waits, which is five seconds.
      fixture.owner.setDelay(.seconds(3))
      let (hers, his) = (try await SocketClient.connect(fixture), try await SocketClient.connect(fixture))
      let join = #"{"config":{},"access_token":"\#(alice.token)"}"#
      let ref = try await hers.push("realtime:lists:42", "phx_join", join)
      let refused = try await his.push("realtime:lists:42", "phx_join", join.replacing(alice.token, with: bob.token))
      try await eventually("both questions") { fixture.owner.questions == 2 }
      func change(_ number: Int, _ user: UserID, _ mayRead: Bool) -> FeedEvent {
        fixture.event(number, "lists:42", access: [AccessChange(topic: "lists:42", user: user, mayRead: mayRead)])
      }
      try await fixture.deliver([change(1, alice.id, false), change(2, alice.id, true), change(3, bob.id, false)])
      let reply = try await hers.next { $0.event == "phx_reply" || $0.event == "phx_close" }
      #expect(reply.event == "phx_reply" && reply.ref == ref && reply.status == "ok")
      #expect(try await his.next { $0.ref == refused }.reason?.hasPrefix("Unauthorized") == true)
      try await fixture.deliver([fixture.event(4, "lists:42")])
      #expect(try await hers.next { $0.number == 4 }.seq == 4)
      #expect(try await hers.settled().allSatisfy { $0.event != "phx_close" })
    }
  }

  /// The first token is verified after the second, for which it is not asked who may read the topic as long.
  @Test(arguments: engines) func theLastTokenCounts(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let alice = try fixture.reader(of: "lists:42")
      let socket = try await SocketClient.connect(fixture)
      try await socket.join("realtime:lists:42", alice.token)
      // What is known of her right is not used again.
      let change = AccessChange(topic: "lists:42", user: alice.id, mayRead: true)
      try await fixture.deliver([fixture.event(1, "lists:42", access: [change])])
      #expect(try await socket.nextEvent().number == 1)
      for (lifetime, delay) in [(600, 2), (3000, 0)] {
        fixture.owner.setDelay(.seconds(delay))
        let token = try fixture.token(of: alice.id, alice.session, lifetime: .seconds(lifetime))
        try await socket.push("realtime:lists:42", "access_token", #"{"access_token":"\#(token)"}"#)
        try await Task.sleep(for: .milliseconds(500))
      }
      try await Task.sleep(for: .seconds(3))
      fixture.clock.advance(by: .seconds(700))
      try await Task.sleep(for: .seconds(2))
      try await fixture.deliver([fixture.event(2, "lists:42")])
      #expect(try await socket.next { $0.event != "phx_reply" }.number == 2)
    }
  }

  @Test(arguments: engines) func aPlaceIsANumberOrItsDigits(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let alice = try fixture.reader(of: "lists:42")
      try await fixture.deliver((1...3).map { fixture.event($0, "lists:42") })
      for place in ["2", #""2""#, "2.0"] {
        let socket = try await SocketClient.connect(fixture)
        #expect(try await socket.join("realtime:lists:42", alice.token, #""since":\#(place)"#).status == "ok")
        #expect(try await socket.nextEvent().number == 3, "\(place)")
        try await socket.close()
      }
      let socket = try await SocketClient.connect(fixture)
      for place in ["-1", #""-1""#, #""yesterday""#, #""""#, "2.5", "[]", "true"] {
        let refused = try await socket.join("realtime:lists:42", alice.token, #""since":\#(place)"#)
        #expect(refused.reason == "ConfigurationError: since must be 0 or the seq of an event", "\(place)")
      }
      #expect(try await fixture.refusals("malformed") == 7)
      // As without it.
      #expect(try await socket.join("realtime:lists:42", alice.token, #""since":null"#).status == "ok")
      #expect(try await socket.settled().isEmpty)
    }
  }
}
