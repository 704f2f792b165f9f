import Database
import Foundation
import Support
import Testing
import Wire

/// The apps' clients send a new token on all channels of a socket at once, before the one that they have joined with
/// ends.
@Suite struct TokenRefreshTests {
  private static let channels = 100

  @Test(arguments: engines) func aNewTokenMayBeSentOnAllChannelsAtOnce(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let topics = (1...Self.channels).map { "lists:\($0)" }
      let alice = try fixture.person()
      for topic in topics { fixture.owner.allow(alice.id, topic) }
      let socket = try await SocketClient.connect(fixture)
      let short = try fixture.token(of: alice.id, alice.session, lifetime: .seconds(600))
      for topic in topics { #expect(try await socket.join("realtime:\(topic)", short).status == "ok") }
      // What is known of her rights is not used again, so that the owner's answers tell when the new token counts.
      try await fixture.deliver(
        topics.map { fixture.event(0, $0, access: [AccessChange(topic: $0, user: alice.id, mayRead: true)]) })
      for _ in topics { #expect(try await socket.nextEvent().number == 0) }
      let (asked, next) = (
        fixture.owner.accessCalls, try fixture.token(of: alice.id, alice.session, lifetime: .seconds(1800))
      )
      for topic in topics {
        try await socket.push("realtime:\(topic)", "access_token", #"{"access_token":"\#(next)"}"#)
      }
      try await eventually("the answers") { fixture.owner.accessCalls >= asked + Self.channels }
      try await Task.sleep(for: .seconds(1))
      #expect(try await socket.settled().isEmpty)
      #expect(try await fixture.refusals("messages") == 0)
      fixture.clock.advance(by: .seconds(700))
      try await fixture.deliver(topics.map { fixture.event(1, $0) })
      var received: Set<String> = []
      while received.count < Self.channels {
        let message = try await socket.next { $0.event != "phx_reply" }
        #expect(message.event == "broadcast" && message.number == 1, "\(message)")
        guard received.insert(message.topic).inserted, message.event == "broadcast" else { break }
      }
      #expect(received.count == Self.channels)
    }
  }
}
