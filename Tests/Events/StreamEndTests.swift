import Database
import Foundation
import Support
import Testing
import Wire

/// A stream counts for its user until its client has gone, however slowly that reads, and no longer.
@Suite struct StreamEndTests {
  /// Less than the time between two comments.
  private static let limit = Duration.seconds(10)

  /// A stream of the user's own topic, when it has begun or was refused.
  private func stream(of user: UserID, _ token: String, at port: Int) async throws -> RawConnection {
    let stream = try await RawConnection(port: port)
    let target = "/realtime/v1/events?topic=users:\(user)"
    try await stream.send("GET \(target) HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(token)\r\n\r\n")
    try await eventually("the beginning") {
      let text = try await stream.received()
      return text.contains("\nid: ") || text.contains("too_many_streams")
    }
    return stream
  }

  /// Opens ten streams of a user, closes their clients, and opens ten others, in up to three attempts, as a busy
  /// machine may take longer for any one.
  private func replaceTenStreams(of user: UserID, _ token: String, at port: Int) async throws {
    var taken: [Duration] = []
    repeat {
      taken.append(try await timeOfReplacingTenStreams(of: user, token, at: port))
    } while taken.count < 3 && taken.allSatisfy { $0 >= Self.limit }
    #expect(taken.contains { $0 < Self.limit }, "\(taken)")
  }

  private func timeOfReplacingTenStreams(of user: UserID, _ token: String, at port: Int) async throws -> Duration {
    var open: [RawConnection] = []
    // Those of an attempt before may have to end.
    try await eventually("ten") {
      let next = try await stream(of: user, token, at: port)
      if next.isStream { open.append(next) } else { next.close() }
      return open.count == 10
    }
    // The premise: there is no room for another.
    let refused = try await stream(of: user, token, at: port)
    #expect(!refused.isStream)
    for connection in open + [refused] { connection.close() }
    let closedAt = ContinuousClock.now
    var others: [RawConnection] = []
    try await eventually("ten others") {
      let next = try await stream(of: user, token, at: port)
      if next.isStream { others.append(next) } else { next.close() }
      return others.count == 10
    }
    let taken = ContinuousClock.now - closedAt
    for connection in others { connection.close() }
    return taken
  }

  @Test(arguments: engines) func whoHasClosedTenStreamsOpensTenOthers(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let alice = try fixture.person()
      try await replaceTenStreams(of: alice.id, alice.token, at: fixture.port)
    }
  }

  @Test func whoHasClosedThemThroughTheGatewayDoesToo() async throws {
    try await withStack(.sqlite) { stack in
      let alice = try await stack.signIn("alice")
      try await replaceTenStreams(of: alice.id, alice.access, at: stack.gateway.port)
    }
  }

  @Test(arguments: engines) func whoOnlyEndsItsSideReadsOn(_ engine: Engine) async throws {
    try await withEvents(engine, ["EVENTS_SOCKETS_PER_USER": "1"]) { fixture in
      let alice = try fixture.person()
      let stream = try await stream(of: alice.id, alice.token, at: fixture.port)
      try await stream.endOutput()
      try await eventually("a comment", within: Self.limit) { try await stream.received().contains(":\n\n\r\n") }
      for number in 1...2 {
        try await fixture.deliver([fixture.event(number, "users:\(alice.id)")])
        try await eventually("the event") { try await stream.received().contains(#""seq":\#(number),"#) }
      }
      // It counts.
      let refused = try await self.stream(of: alice.id, alice.token, at: fixture.port)
      #expect(!refused.isStream)
      for connection in [stream, refused] { connection.close() }
    }
  }

  /// More than the buffers of both sides and the stream hold.
  @Test(arguments: engines) func whoReadsNothingForAWhileGetsEverythingInTheEnd(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let alice = try fixture.reader(of: "lists:42")
      var stream = try await EventStreamClient(fixture.events, "topic=lists:42", token: alice.token)
      _ = try await stream.nextBlock()
      try await fixture.deliverLargeEvents(400, to: "lists:42", bytes: 45_000)
      let events = try await stream.next(400)
      #expect(events.map(\.seq) == Array(1...400) && events.map(\.number) == Array(1...400))
    }
  }
}

extension RawConnection {
  fileprivate var isStream: Bool { String(decoding: bytes, as: UTF8.self).hasPrefix("HTTP/1.1 200 ") }
}
