import Database
import Foundation
import Support
import Testing
import Wire

/// A stream that reads the log for long, as its client reads slowly, ends with the right to read and with the session.
@Suite struct SlowStreamTests {
  private static let topic = "lists:42"
  private static let count = 1500

  private func stream(_ person: EventsFixture.Person, _ fixture: EventsFixture) async throws -> RawConnection {
    let stream = try await RawConnection(port: fixture.port, receiveBytes: 64 * 1024)
    try await stream.send(
      """
      GET /realtime/v1/events?topic=\(Self.topic) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
      Authorization: Bearer \(person.token)\r\nLast-Event-ID: \(Self.topic)=0\r\n\r\n
      """)
    try await eventually("the first events") { try await stream.received().contains("event: task_changed") }
    return stream
  }

  @Test(arguments: engines) func whoMayReadNoMoreGetsNoFurtherPage(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let (alice, bob) = (try fixture.reader(of: Self.topic), try fixture.reader(of: Self.topic))
      let carol = try fixture.reader(of: Self.topic)
      try await fixture.deliverLargeEvents(Self.count, to: Self.topic, bytes: 16 * 1024)
      let (hers, his) = (try await stream(alice, fixture), try await stream(bob, fixture))
      fixture.owner.forbid(alice.id, Self.topic)
      let removal = AccessChange(topic: Self.topic, user: alice.id, mayRead: false)
      try await fixture.deliver([
        fixture.event(Self.count + 1, Self.topic, name: "member_removed", access: [removal])
      ])
      fixture.end(bob.session)
      for (stream, reason) in [(hers, "no longer have permission"), (his, "session has ended")] {
        let text = try await stream.untilClosed()
        #expect(text.contains(reason))
        let read = text.components(separatedBy: "event: task_changed\n").count - 1
        #expect(read > 0 && read < Self.count, "\(read)")
        #expect(!text.contains("member_removed"))
      }
      // Who still may gets all of it.
      var all = try await EventStreamClient(
        fixture.events, "topic=\(Self.topic)", token: carol.token, lastEventID: "\(Self.topic)=0")
      var names: [String] = []
      while names.last != "member_removed", let event = try await all.next() { names.append(event.name) }
      #expect(names.count == Self.count + 1)
    }
  }
}
