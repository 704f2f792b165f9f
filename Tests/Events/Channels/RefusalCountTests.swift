import Database
import Foundation
import Prometheus
import Support
import Testing
import Web
import Wire

/// Each refusal is counted by its reason, over whatever way it came.
@Suite struct RefusalCountTests {
  private static let list = "realtime:lists:1"

  private func expect(_ counts: [String: Int], _ fixture: EventsFixture) async throws {
    for (reason, count) in counts { #expect(try await fixture.refusals(reason) == count, "\(reason)") }
  }

  @Test(arguments: engines) func messagesThatAreNotUnderstood(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let alice = try fixture.reader(of: "lists:1")
      let socket = try await SocketClient.connect(fixture)
      #expect(try await socket.call(Self.list, "broadcast").reason == "unmatched topic")
      let filter = #""postgres_changes":[{"event":"*","schema":"public","table":"tasks","filter":"a=match.b"}]"#
      #expect(try await socket.join(Self.list, alice.token, filter).status == "ok")
      #expect(try await socket.next { $0.event == "system" }.payload["status"] == "error")
      try await expect(["unmatched": 1, "filter": 1, "event": 0], fixture)
      #expect(try await socket.call(Self.list, "nonsense").reason == "unknown event")
      #expect(try await socket.call(Self.list, "presence", #"{"event":"x"}"#).reason == "unknown presence event")
      // What is understood is not counted.
      #expect(try await socket.call(Self.list, "presence", #"{"event":"track","payload":{}}"#).status == "ok")
      try await expect(["unmatched": 1, "filter": 1, "event": 2, "malformed": 0, "presence": 0], fixture)
    }
  }

  @Test(arguments: engines) func tokensThatAreRefusedOnAnOpenChannel(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let (alice, bob) = (try fixture.reader(of: "lists:1"), try fixture.reader(of: "lists:1"))
      let socket = try await SocketClient.connect(fixture)
      try await socket.join(Self.list, alice.token)
      let next = try fixture.token(of: alice.id, alice.session, lifetime: .seconds(1800))
      try await socket.push(Self.list, "access_token", #"{"access_token":"\#(next)"}"#)
      #expect(try await socket.settled().isEmpty)
      try await expect(["token": 0], fixture)
      for token in ["nonsense", bob.token] {
        try await socket.push(Self.list, "access_token", #"{"access_token":"\#(token)"}"#)
        #expect(try await socket.next { $0.event == "system" }.payload["status"] == "error")
        #expect(try await socket.next().event == "phx_close")
        #expect(try await socket.join(Self.list, alice.token).status == "ok")
      }
      try await expect(["token": 2, "rights": 0], fixture)
    }
  }

  @Test(arguments: engines) func streamsThatAreRefusedOrEnded(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let (alice, bob) = (try fixture.reader(of: "lists:1"), try fixture.reader(of: "lists:1"))
      func stream(
        _ person: EventsFixture.Person, _ topic: String, after id: String? = nil
      ) async throws -> EventStreamClient {
        try await EventStreamClient(fixture.events, "topic=\(topic)", token: person.token, lastEventID: id)
      }
      #expect(try await stream(alice, "nonsense").status == 400)
      #expect(try await stream(alice, "lists:1", after: "x").status == 400)
      #expect(try await stream(alice, "lists:2").status == 403)
      try await expect(["name": 1, "malformed": 1, "rights": 1, "token": 0, "unavailable": 0], fixture)
      for token in [nil, "nonsense"] {
        #expect(try await EventStreamClient(fixture.events, "topic=lists:1", token: token).status == 401)
      }
      try await expect(["token": 2], fixture)
      var (hers, his) = (try await stream(alice, "lists:1"), try await stream(bob, "lists:1"))
      _ = (try await hers.nextBlock(), try await his.nextBlock())
      fixture.owner.forbid(alice.id, "lists:1")
      try await fixture.deliver([
        fixture.event(1, "lists:1", access: [AccessChange(topic: "lists:1", user: alice.id, mayRead: false)])
      ])
      #expect(try await hers.next()?.name == "system")
      fixture.end(bob.session)
      while let event = try await his.next(), event.name != "system" {}
      fixture.owner.setDown(true)
      #expect(try await stream(alice, "lists:3").status == 503)
      try await expect(["name": 1, "malformed": 1, "rights": 2, "token": 3, "unavailable": 1], fixture)
    }
  }

  @Test(arguments: engines) func broadcastsByHTTPThatAreRefused(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let (alice, mallory) = (try fixture.reader(of: "lists:1"), try fixture.person())
      let path = "/realtime/v1/api/broadcast"
      func messages(_ topic: String, _ text: String = "") -> [String: any Sendable] {
        ["messages": [["topic": topic, "event": "said", "payload": ["text": text]] as [String: any Sendable]]]
      }
      let hers = fixture.events.bearing(alice.token)
      #expect(try await hers.post(path, messages("lists:1")).status == 202)
      try await expect(["token": 0, "size": 0, "malformed": 0, "rights": 0, "name": 0], fixture)
      #expect(try await fixture.events.post(path, messages("lists:1")).status == 401)
      #expect(try await fixture.events.post("\(path)/lists:1/events/said", ["x": 1]).status == 401)
      #expect(try await hers.post(path, messages("lists:1", String(repeating: "x", count: 70_000))).status == 413)
      #expect(try await hers.send(.POST, path, body: Data("{".utf8)).status == 400)
      #expect(try await hers.post("\(path)/users:\(alice.id)/events/said", ["x": 1]).status == 400)
      #expect(try await fixture.events.bearing(mallory.token).post(path, messages("lists:1")).status == 403)
      try await expect(["token": 2, "size": 1, "malformed": 1, "rights": 1, "name": 1], fixture)
    }
  }

  /// A connection that has begun its request when the service stops.
  @Test func aServiceThatStopsTakesNoNewSocket() async throws {
    let (registry, answer) = (Kept<MetricsRegistry>(), Kept<Task<String, any Error>>())
    try await withEvents(.sqlite) { fixture in
      registry.set(fixture.dependencies.registry)
      // It is closed when the service stops.
      let other = try await SocketClient.connect(fixture)
      let raw = try await RawConnection(port: fixture.port)
      try await raw.send("GET /realtime/v1/websocket?apikey=a HTTP/1.1\r\nHost: localhost\r\n")
      // Until the service has read it.
      try await Task.sleep(for: .seconds(1))
      answer.set(
        Task {
          try await other.untilClosed()
          // Until each connection has been told of the stop.
          try await Task.sleep(for: .seconds(1))
          try await raw.send(
            "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
              + "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n")
          return try await raw.untilClosed()
        })
    }
    let text = try #require(try await answer.value?.value)
    #expect(text.hasPrefix("HTTP/1.1 503") && text.hasSuffix(#"{"error":"Realtime is restarting"}"#))
    #expect(registry.value?.text().contains(#"kith_events_refusals_total{reason="draining"} 1"#) == true)
  }
}
