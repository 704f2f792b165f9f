import Database
import Foundation
import NIOCore
import Support
import Synchronization
import Testing
import Web
import Wire

/// Joining, events of the feed and leaving, over a real WebSocket.
@Suite struct SocketTests {
  @Test(arguments: engines, ["1.0.0", "2.0.0"])
  func aChannelReceivesWhatHappensInItsTopic(_ engine: Engine, version: String) async throws {
    try await withEvents(engine) { fixture in
      let alice = try fixture.reader(of: "lists:42")
      try await fixture.deliver([fixture.event(1, "lists:42")])
      let socket = try await SocketClient.connect(fixture, version: version)
      let reply = try await socket.join("realtime:lists:42", alice.token)
      #expect(reply.status == "ok")
      #expect(reply.payload["response"]?["postgres_changes"] == .array([]))
      #expect(reply.payload["response"]?["seq"] == .integer(1))
      #expect(reply.payload["response"]?["epoch"]?.string?.isEmpty == false)
      try await fixture.deliver([
        fixture.event(2, "lists:42"), fixture.event(0, "lists:43"), fixture.event(3, "lists:42"),
      ])
      let events = try await socket.nextEvents(2)
      #expect(events.map(\.number) == [2, 3])
      #expect(events.map(\.seq) == [2, 3])
      #expect(events.allSatisfy { $0.topic == "realtime:lists:42" && $0.name == "task_changed" && $0.ref == nil })
      #expect(events.allSatisfy { $0.payload["type"] == .string("broadcast") })
      // Without the prefix it is the same topic.
      #expect(try await socket.join("lists:42", alice.token).status == "ok")
      try await fixture.deliver([fixture.event(4, "lists:42")])
      #expect(Set(try await socket.nextEvents(2).map(\.topic)) == ["lists:42", "realtime:lists:42"])
    }
  }

  @Test(arguments: engines) func aClientThatRejoinsGetsEverythingSince(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let alice = try fixture.reader(of: "lists:42")
      let first = try await SocketClient.connect(fixture)
      let epoch = try #require(
        try await first.join("realtime:lists:42", alice.token).payload["response"]?["epoch"]?.string)
      try await first.close()
      for start in stride(from: 1, to: 700, by: 100) {
        try await fixture.deliver((start..<start + 100).map { fixture.event($0, "lists:42") })
      }
      let second = try await SocketClient.connect(fixture)
      let config = #""since":20,"epoch":"\#(epoch)""#
      #expect(
        try await second.join("realtime:lists:42", alice.token, config).payload["response"]?["seq"] == .integer(700))
      try await fixture.deliver([fixture.event(701, "lists:42")])
      #expect(try await second.nextEvents(681).map(\.number) == Array(21...701))
      // Without `since` there is nothing old.
      let third = try await SocketClient.connect(fixture)
      try await third.join("realtime:lists:42", alice.token)
      #expect(try await third.settled().isEmpty)
    }
  }

  @Test(arguments: engines) func aPlaceThatTheLogDoesNotHaveIsOneGap(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let alice = try fixture.reader(of: "lists:42")
      try await fixture.deliver((1...5).map { fixture.event($0, "lists:42") })
      let database = try await fixture.testDatabase.open("events", [])
      try await database.write { try $0.change("delete from topic_event where seq <= 3") }
      await database.close()
      for config in [#""since":2"#, #""since":99"#, #""since":4,"epoch":"another""#] {
        let socket = try await SocketClient.connect(fixture)
        let reply = try await socket.join("realtime:lists:42", alice.token, config)
        let gap = try await socket.nextEvent()
        #expect(gap.name == "gap", "\(config)")
        #expect(gap.payload["payload"]?["oldest"] == .integer(4))
        #expect(gap.payload["payload"]?["seq"] == .integer(5))
        #expect(gap.payload["payload"]?["epoch"] == reply.payload["response"]?["epoch"])
        #expect(try await socket.settled().isEmpty)
        try await socket.close()
      }
      // The premise: what is there comes without a gap.
      let socket = try await SocketClient.connect(fixture)
      try await socket.join("realtime:lists:42", alice.token, #""since":3"#)
      #expect(try await socket.nextEvents(2).map(\.number) == [4, 5])
    }
  }

  @Test(arguments: engines) func whoMayNotReadIsRefusedWithAReason(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let (alice, mallory) = (try fixture.reader(of: "lists:42"), try fixture.person())
      let expired = try fixture.token(of: alice.id, alice.session, lifetime: .seconds(1))
      fixture.clock.advance(by: .seconds(2))
      let socket = try await SocketClient.connect(fixture)
      func reason(_ topic: String, _ token: String?, _ config: String = "") async throws -> String? {
        let reply = try await socket.join(topic, token, config)
        // Swift's client looks at nothing else.
        if reply.status == "error" { _ = try await socket.next { $0.event == "phx_close" && $0.topic == topic } }
        return reply.reason
      }
      #expect(try await reason("realtime:lists:42", mallory.token)?.hasPrefix("Unauthorized:") == true)
      #expect(try await reason("realtime:lists:42", expired) == "InvalidJWTToken: Token has expired")
      #expect(try await reason("realtime:lists:42", "nonsense")?.hasPrefix("InvalidJWTToken:") == true)
      #expect(try await reason("realtime:lists:42", nil)?.hasPrefix("InvalidJWTToken:") == true)
      #expect(try await reason("realtime:users:\(alice.id)", mallory.token)?.hasPrefix("Unauthorized:") == true)
      #expect(
        try await reason("realtime:anything", mallory.token, #""private":true"#)?.hasPrefix("Unauthorized") == true)
      #expect(try await reason("realtime:", mallory.token)?.hasPrefix("TopicNameRequired") == true)
      // A socket that has refused is as good as before, for its own user.
      #expect(try await reason("realtime:users:\(mallory.id)", mallory.token) == nil)
      // Who is let in need not wait until what was known of them is forgotten.
      fixture.owner.allow(mallory.id, "lists:42")
      #expect(try await reason("realtime:lists:42", mallory.token) == nil)
      fixture.owner.setDown(true)
      let reply = try await socket.join("realtime:lists:7", mallory.token)
      #expect(reply.reason?.hasPrefix("UnableToSubscribe") == true)
    }
  }

  @Test(arguments: engines, ["1.0.0", "2.0.0"])
  func heartbeatsAndUnknownMessagesAreAnswered(_ engine: Engine, version: String) async throws {
    try await withEvents(engine) { fixture in
      let alice = try fixture.reader(of: "lists:42")
      let socket = try await SocketClient.connect(fixture, version: version)
      let heartbeat = try await socket.call("phoenix", "heartbeat")
      #expect(heartbeat.topic == "phoenix" && heartbeat.status == "ok")
      // Python's client sends no ref.
      try await socket.send(
        text: version == "1.0.0"
          ? #"{"topic":"phoenix","event":"heartbeat","payload":{},"ref":null}"#
          : #"[null,null,"phoenix","heartbeat",{}]"#)
      let answer = try await socket.next { $0.event == "phx_reply" }
      #expect(answer.ref == nil && answer.status == "ok")
      #expect(try await socket.call("realtime:lists:42", "broadcast").reason == "unmatched topic")
      #expect(try await socket.call("realtime:lists:42", "phx_leave").status == "ok")
      // What is no message is dropped, and the socket stays.
      for text in ["", "{", "[]", "null", #"{"topic":1}"#, #"[1,2,3]"#] { try await socket.send(text: text) }
      let join = try await socket.join("realtime:lists:42", alice.token)
      #expect(join.status == "ok")
      #expect(try await socket.call("realtime:lists:42", "nonsense").status == "error")
      // A message of an earlier join is ignored.
      try await socket.push("realtime:lists:42", "nonsense", joinRef: "999")
      #expect(try await socket.settled().isEmpty)
      let leave = try await socket.call("realtime:lists:42", "phx_leave")
      #expect(leave.status == "ok")
      let close = try await socket.next()
      #expect(close.event == "phx_close" && close.ref == join.ref)
      if version == "2.0.0" { #expect(close.joinRef == join.ref) }
      try await fixture.deliver([fixture.event(1, "lists:42")])
      #expect(try await socket.settled().isEmpty)
    }
  }

  @Test(arguments: engines) func aSecondJoinTakesThePlaceOfTheFirst(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let alice = try fixture.reader(of: "lists:42")
      let socket = try await SocketClient.connect(fixture)
      let first = try await socket.join("realtime:lists:42", alice.token)
      let ref = try await socket.push(
        "realtime:lists:42", "phx_join", #"{"config":{},"access_token":"\#(alice.token)"}"#)
      let close = try await socket.next()
      #expect(close.event == "phx_close" && close.joinRef == first.ref)
      let reply = try await socket.next()
      #expect(reply.event == "phx_reply" && reply.ref == ref && reply.joinRef == ref)
      try await fixture.deliver([fixture.event(1, "lists:42")])
      _ = try await socket.nextEvent()
      #expect(try await socket.settled().isEmpty)
    }
  }

  @Test(arguments: engines) func aChannelEndsWithTheRightToReadIt(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let (alice, bob) = (try fixture.reader(of: "lists:42"), try fixture.reader(of: "lists:42"))
      let (hers, his) = (try await SocketClient.connect(fixture), try await SocketClient.connect(fixture))
      try await hers.join("realtime:lists:42", alice.token)
      try await his.join("realtime:lists:42", bob.token)
      try await hers.join("realtime:users:\(alice.id)", alice.token)
      fixture.owner.forbid(alice.id, "lists:42")
      try await fixture.deliver([
        fixture.event(
          1, "lists:42", name: "member_removed",
          access: [AccessChange(topic: "lists:42", user: alice.id, mayRead: false)])
      ])
      #expect(try await his.nextEvent().name == "member_removed")
      let system = try await hers.next { $0.event == "system" }
      #expect(system.payload["status"] == .string("error"))
      #expect(
        system.payload["message"]
          == .string(
            "You no longer have permission to read from this Channel topic: lists:42"))
      #expect(system.payload["channel"] == .string("lists:42"))
      #expect(try await hers.next().event == "phx_close")
      #expect(try await hers.join("realtime:lists:42", alice.token).status == "error")
      // Her other channel is still hers.
      try await fixture.deliver([fixture.event(7, "users:\(alice.id)")])
      #expect(try await hers.nextEvent().number == 7)
    }
  }

  @Test(arguments: engines) func aChannelEndsWithItsSessionAndItsToken(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let (alice, bob) = (try fixture.reader(of: "lists:42"), try fixture.reader(of: "lists:42"))
      let (hers, his) = (try await SocketClient.connect(fixture), try await SocketClient.connect(fixture))
      let short = try fixture.token(of: bob.id, bob.session, lifetime: .seconds(600))
      try await hers.join("realtime:lists:42", alice.token)
      try await his.join("realtime:lists:42", short)
      fixture.end(alice.session)
      #expect(try await hers.next { $0.event == "system" }.payload["message"] == .string("The session has ended"))
      #expect(try await hers.next().event == "phx_close")
      #expect(try await hers.join("realtime:lists:42", alice.token).status == "error")

      // A new token in time carries the channel over the end of the first.
      let next = try fixture.token(of: bob.id, bob.session, lifetime: .seconds(1800))
      try await his.push("realtime:lists:42", "access_token", #"{"access_token":"\#(next)"}"#)
      #expect(try await his.settled().isEmpty)
      try await eventually("the new token") {
        try await his.join("realtime:users:\(bob.id)", next).status == "ok"
      }
      fixture.clock.advance(by: .seconds(700))
      try await fixture.deliver([fixture.event(1, "lists:42")])
      #expect(try await his.nextEvent().number == 1)
      fixture.clock.advance(by: .seconds(1200))
      #expect(try await his.next { $0.event == "system" }.payload["message"] == .string("Token has expired"))
      #expect(try await his.next().event == "phx_close")
    }
  }

  @Test(arguments: engines) func aStoppingServiceClosesWithServiceRestart(_ engine: Engine) async throws {
    let socket = Kept<SocketClient>()
    try await withEvents(engine, ["EVENTS_CLOSE_SECONDS": "1"]) { fixture in
      let alice = try fixture.reader(of: "lists:42")
      let client = try await SocketClient.connect(fixture)
      try await client.join("realtime:lists:42", alice.token)
      socket.set(client)
    }
    let client = try #require(socket.value)
    try await client.untilClosed()
    #expect(client.closeCode == 1012)
  }

  /// So that their clients do not all come back at once.
  @Test func aStoppingServiceSpreadsTheClosesOverItsTime() async throws {
    let closes = Kept<[Task<(code: Int?, after: Duration), any Error>]>()
    try await withEvents(.sqlite, ["EVENTS_CLOSE_SECONDS": "4"]) { fixture in
      var sockets: [SocketClient] = []
      for _ in 0..<24 { sockets.append(try await SocketClient.connect(fixture)) }
      let stoppedAt = ContinuousClock.now
      closes.set(
        sockets.map { socket in
          Task {
            try await socket.untilClosed()
            return (socket.closeCode, ContinuousClock.now - stoppedAt)
          }
        })
    }
    var times: [Duration] = []
    for close in closes.value ?? [] {
      let (code, after) = try await close.value
      #expect(code == 1012)
      times.append(after)
    }
    // Evenly at random: the chance that all of them are in one half of the time is one in eight million.
    let (first, last) = (try #require(times.min()), try #require(times.max()))
    #expect(times.count == 24 && last - first > .seconds(2) && last < .seconds(30))
  }
}

/// A value that leaves a closure.
final class Kept<Value: Sendable>: Sendable {
  private let stored = Mutex<Value?>(nil)

  var value: Value? { stored.withLock { $0 } }

  func set(_ value: Value) { stored.withLock { $0 = value } }
}
