import Foundation
import Support
import Testing
import Wire

@testable import Gateway

/// The channels of the events service, through the gateway.
@Suite struct LiveChannelTests {
  private func deliver(_ name: String, to topic: String, of stack: TestStack) async throws {
    let event = FeedEvent(
      id: .new(at: Date()), topics: [topic], name: name, payload: .object(["n": .integer(1)]), at: Date())
    let reply = try await stack.events.with(stack.with(key: "lists"))
      .send(.POST, "/internal/events", body: try JSON.encodeExact(FeedBatch(events: [event])))
    #expect(reply.status == 200)
  }

  private func stream(_ topic: String, of stack: TestStack, token: String?) async throws -> RawConnection {
    let raw = try await RawConnection(to: stack.gateway)
    let bearer = token.map { "Authorization: Bearer \($0)\r\n" } ?? ""
    try await raw.send("GET /realtime/v1/events?topic=\(topic) HTTP/1.1\r\nHost: kith.test\r\n\(bearer)\r\n")
    try await eventually("a response") { try await raw.received().contains("\r\n\r\n") }
    return raw
  }

  /// - Parameter overSockets: whether the gateway reaches the services over Unix sockets.
  private func withServices(overSockets: Bool, _ body: (TestStack) async throws -> Void) async throws {
    try await withSocketFolder { folder in
      let sockets = overSockets ? ["SOCKET_DIR": folder] : [:]
      try await withStack(.sqlite, sockets, isApart: overSockets) { stack in try await body(stack) }
    }
  }

  @Test(arguments: [false, true]) func anEventArrivesWhenItHappens(overSockets: Bool) async throws {
    try await withServices(overSockets: overSockets) { stack in
      let alice = try await stack.signIn("alice")
      let topic = "users:\(alice.id)"
      let raw = try await stream(topic, of: stack, token: alice.access)
      #expect(raw.head.hasPrefix("HTTP/1.1 200 ") && raw.head.lowercased().contains("text/event-stream"))
      for name in ["first", "second"] {
        try await deliver(name, to: topic, of: stack)
        // The response goes on, so nothing has made the gateway write what it holds.
        try await eventually("the event") { try await raw.received().contains("event: \(name)\n") }
      }
      raw.close()
    }
  }

  @Test(arguments: [false, true]) func aChannelIsJoinedThroughAWebSocket(overSockets: Bool) async throws {
    try await withServices(overSockets: overSockets) { stack in
      let alice = try await stack.signIn("alice")
      let topic = "users:\(alice.id)"
      let raw = try await RawConnection(to: stack.gateway)
      let handshake = SocketHandshake.lines.map { $0 + "\r\n" }.joined()
      try await raw.send("GET /realtime/v1/websocket?vsn=1.0.0&apikey=k HTTP/1.1\r\n\(handshake)\r\n")
      try await eventually("the switch") { try await raw.received().contains("\r\n\r\n") }
      #expect(raw.head.hasPrefix("HTTP/1.1 101 "), "\(raw.head)")
      let payload = #"{"config":{"private":true},"access_token":"\#(alice.access)"}"#
      try await raw.send(
        SocketHandshake.frame(
          #"{"topic":"realtime:\#(topic)","event":"phx_join","payload":\#(payload),"ref":"1","join_ref":"1"}"#))
      try await eventually("the reply") { try await raw.received().contains(#""status":"ok""#) }
      try await deliver("first", to: topic, of: stack)
      try await eventually("the event") { try await raw.received().contains(#""first""#) }
      raw.close()
    }
  }

  /// The gateway has verified the token at the beginning; the service knows when it expires.
  @Test func aStreamEndsWithItsToken() async throws {
    try await withStack(.sqlite) { stack in
      let alice = try await stack.signIn("alice")
      let raw = try await stream("users:\(alice.id)", of: stack, token: alice.access)
      try await deliver("first", to: "users:\(alice.id)", of: stack)
      try await eventually("the event") { try await raw.received().contains("event: first\n") }
      stack.clock.advance(by: .seconds(16 * 60))
      // The connection stays, and the response ends.
      try await eventually("the end") { try await raw.received().hasSuffix("\r\n0\r\n\r\n") }
      let again = try await stream("users:\(alice.id)", of: stack, token: alice.access)
      #expect(again.head.hasPrefix("HTTP/1.1 401 "))
    }
  }

  @Test func strangersGetNoStream() async throws {
    try await withStack(.sqlite) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let topic = "users:\(alice.id)"
      #expect(try await stream(topic, of: stack, token: nil).head.hasPrefix("HTTP/1.1 401 "))
      #expect(try await stream(topic, of: stack, token: bob.access).head.hasPrefix("HTTP/1.1 403 "))
      #expect(try await stack.gateway.post("/internal/events", ["events": 0]).status == 404)
    }
  }
}
