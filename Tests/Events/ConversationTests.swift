import Database
import Foundation
import NIOCore
import Support
import Testing
import Wire

/// Broadcasts of clients, and presence.
@Suite struct ConversationTests {
  private static let list = "realtime:lists:42"
  private static let typing = #"{"type":"broadcast","event":"typing","payload":{"task_id":7}}"#

  @Test(arguments: engines, ["1.0.0", "2.0.0"])
  func aBroadcastReachesTheOthers(_ engine: Engine, version: String) async throws {
    try await withEvents(engine) { fixture in
      let (alice, bob) = (try fixture.reader(of: "lists:42"), try fixture.reader(of: "lists:42"))
      let hers = try await SocketClient.connect(fixture, version: version)
      let his = try await SocketClient.connect(fixture, version: version)
      try await hers.join(Self.list, alice.token)
      try await his.join(Self.list, bob.token, #""broadcast":{"ack":true,"self":true}"#)
      try await hers.push(Self.list, "broadcast", Self.typing)
      let received = try await his.nextEvent()
      #expect(received.payload == (try JSON.decode(JSONValue.self, from: Data(Self.typing.utf8))))
      #expect(try await hers.settled().isEmpty)
      #expect(try await his.call(Self.list, "broadcast", Self.typing).status == "ok")
      #expect(try await hers.nextEvent().name == "typing")
      // The gap is the server's own.
      let forged = #"{"type":"broadcast","event":"gap","payload":{"seq":9}}"#
      #expect(try await his.call(Self.list, "broadcast", forged).status == "error")
      #expect(try await his.call(Self.list, "broadcast", #"{"event":"x","payload":7}"#).status == "error")
      #expect(try await hers.settled().isEmpty)
      // A broadcast takes no number.
      try await fixture.deliver([fixture.event(1, "lists:42")])
      #expect(try await hers.nextEvent().seq == 1)
    }
  }

  @Test(arguments: engines) func channelsOfOneUserTakeNoBroadcasts(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let alice = try fixture.person()
      let socket = try await SocketClient.connect(fixture)
      let topic = "realtime:users:\(alice.id)"
      try await socket.join(topic, alice.token)
      #expect(try await socket.call(topic, "broadcast", Self.typing).status == "error")
      #expect(try await socket.call(topic, "presence", #"{"event":"track","payload":{}}"#).status == "error")
    }
  }

  @Test(arguments: engines) func bytesTravelInBinaryFrames(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let (alice, bob) = (try fixture.reader(of: "lists:42"), try fixture.reader(of: "lists:42"))
      let (hers, his) = (try await SocketClient.connect(fixture), try await SocketClient.connect(fixture))
      let old = try await SocketClient.connect(fixture, version: "1.0.0")
      let join = try await hers.join(Self.list, alice.token)
      try await his.join(Self.list, bob.token)
      try await old.join(Self.list, bob.token)
      func frame(_ encoding: UInt8, _ content: [UInt8]) -> ByteBuffer {
        let fields = [join.ref ?? "", "77", Self.list, "moved", ""].map { Array($0.utf8) }
        return ByteBuffer(bytes: [0x03] + fields.map { UInt8($0.count) } + [encoding] + fields.joined() + content)
      }
      try await hers.send(frame: .binary, frame(0, [0, 1, 2, 255]))
      let expected = [0x04, UInt8(Self.list.utf8.count), 5, 0, 0] + Array("\(Self.list)moved".utf8) + [0, 1, 2, 255]
      #expect(Array(try await his.nextBinary()) == expected)
      try await hers.send(frame: .binary, frame(1, Array(#"{"x":1}"#.utf8)))
      #expect(try await his.nextEvent().payload["payload"] == .object(["x": .integer(1)]))
      // The old version cannot express bytes.
      #expect(try await old.nextEvent().payload["payload"] == .object(["x": .integer(1)]))
      for bytes: [UInt8] in [[], [3], [3, 255, 0, 0, 0, 0, 0, 1], [9, 1], [3, 0, 0, 0, 0, 0, 1, 0x7B]] {
        try await hers.send(frame: .binary, ByteBuffer(bytes: bytes))
      }
      #expect(try await his.settled().isEmpty)
      #expect(try await hers.settled().isEmpty)
    }
  }

  @Test(arguments: engines) func servicesAndReadersBroadcastByHTTP(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let (alice, mallory) = (try fixture.reader(of: "lists:42"), try fixture.person())
      let socket = try await SocketClient.connect(fixture)
      try await socket.join(Self.list, alice.token)
      let message: [String: any Sendable] = ["topic": "lists:42", "event": "typing", "payload": ["task_id": 7]]
      let path = "/realtime/v1/api/broadcast"
      let service = fixture.events.with(["X-Service-Key": TestStack.keys["lists"] ?? ""])
      #expect(try await service.post(path, ["messages": [message]]).status == 202)
      #expect(try await socket.nextEvent().payload["payload"] == .object(["task_id": .integer(7)]))
      let hers = fixture.events.bearing(alice.token)
      #expect(try await hers.post(path, ["messages": [message]]).status == 202)
      _ = try await socket.nextEvent()
      #expect(try await hers.post("\(path)/lists:42/events/moved?private=true", ["x": 1]).status == 202)
      #expect(try await socket.nextEvent().name == "moved")
      let bytes = hers.with(["content-type": "application/octet-stream"])
      #expect(try await bytes.send(.POST, "\(path)/lists:42/events/raw", body: Data([1, 2])).status == 202)
      #expect(try await socket.nextBinary().suffix(2) == Data([1, 2]))

      #expect(try await fixture.events.post(path, ["messages": [message]]).status == 401)
      #expect(try await fixture.events.bearing(mallory.token).post(path, ["messages": [message]]).status == 403)
      #expect(try await hers.post(path, ["messages": [message.merging(["event": "gap"]) { $1 }]]).status == 400)
      #expect(try await hers.post(path, ["messages": [message.merging(["topic": "any"]) { $1 }]]).status == 400)
      #expect(try await hers.post(path, ["messages": [message.merging(["payload": 7]) { $1 }]]).status == 400)
      let many = [[String: any Sendable]](repeating: message, count: 101)
      #expect(try await hers.post(path, ["messages": many]).status == 429)
      #expect(try await socket.settled().isEmpty)
    }
  }

  @Test(arguments: engines, ["1.0.0", "2.0.0"])
  func whoIsPresentIsListedAndChangesAreTold(_ engine: Engine, version: String) async throws {
    try await withEvents(engine) { fixture in
      let (alice, bob) = (try fixture.reader(of: "lists:42"), try fixture.reader(of: "lists:42"))
      let hers = try await SocketClient.connect(fixture, version: version)
      try await hers.join(Self.list, alice.token, #""presence":{"key":"alice","enabled":true}"#)
      #expect(try await hers.next { $0.event == "presence_state" }.payload == .object([:]))
      let track = #"{"type":"presence","event":"track","payload":{"mood":"fine"}}"#
      try await hers.push(Self.list, "presence", track)
      let joined = try await hers.nextPresenceDiff()
      #expect(joined.payload["leaves"] == .object([:]))
      let meta = try #require(joined.payload["joins"]?["alice"]?["metas"]?.array?.first)
      #expect(meta["mood"] == .string("fine"))
      let ref = try #require(meta["phx_ref"]?.string)

      let his = try await SocketClient.connect(fixture, version: version)
      try await his.join(Self.list, bob.token, #""presence":{"key":"bob","enabled":true}"#)
      let state = try await his.next { $0.event == "presence_state" }
      #expect(state.payload["alice"]?["metas"]?.array == [meta])
      // An update is the old one leaving and a new one joining.
      try await hers.push(Self.list, "presence", #"{"event":"track","payload":{"mood":"better"}}"#)
      let updated = try await his.nextPresenceDiff()
      #expect(updated.payload["leaves"]?["alice"]?["metas"]?.array == [meta])
      let next = try #require(updated.payload["joins"]?["alice"]?["metas"]?.array?.first)
      #expect(next["phx_ref_prev"]?.string == ref && next["phx_ref"]?.string != ref)
      // A socket that is gone is not present.
      try await hers.close()
      let left = try await his.nextPresenceDiff()
      #expect(left.payload["joins"] == .object([:]))
      #expect(left.payload["leaves"]?["alice"]?["metas"]?.array == [next])
      try await eventually("nobody") { try await fixture.testDatabase.count("presence", in: "events") == 0 }
    }
  }

  @Test(arguments: engines) func atMostAHundredArePresent(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let (alice, end) = (try fixture.reader(of: "lists:42"), fixture.clock.now + 3600)
      let database = try await fixture.testDatabase.open("events", [])
      try await database.write { db in
        try db.change("insert into presence_replica (id, expires_at) values ('another', \(end))")
        for number in 1...100 {
          try db.change(
            """
            insert into presence (ref, topic, key, meta, replica)
            values (\("ref \(number)"), 'lists:42', \("key \(number)"), '{"phx_ref":"x"}', 'another')
            """)
        }
      }
      let socket = try await SocketClient.connect(fixture)
      try await socket.join(Self.list, alice.token, #""presence":{"key":"alice","enabled":true}"#)
      #expect(try await socket.next { $0.event == "presence_state" }.payload.members.count == 100)
      let track = #"{"type":"presence","event":"track","payload":{}}"#
      #expect(try await socket.call(Self.list, "presence", track).reason == "Too many are present")
      #expect(try await fixture.refusals("presence") == 1)
      try await database.write { db in try db.change("delete from presence where ref = 'ref 7'") }
      await database.close()
      #expect(try await socket.call(Self.list, "presence", track).status == "ok")
    }
  }

  @Test func replicasShareBroadcastsPresenceAndEvents() async throws {
    guard engines.contains(.postgres) else { return }
    try await withEvents(.postgres) { first in
      try await withEvents(on: first.testDatabase, first.owner) { second in
        let (alice, bob) = (try first.reader(of: "lists:42"), try first.reader(of: "lists:42"))
        let (hers, his) = (try await SocketClient.connect(first), try await SocketClient.connect(second))
        try await hers.join(Self.list, alice.token, #""presence":{"key":"alice","enabled":true}"#)
        try await his.join(Self.list, bob.token, #""presence":{"key":"bob","enabled":true}"#)
        try await first.deliver([first.event(1, "lists:42")])
        #expect(try await his.nextEvent().number == 1)
        try await second.deliver([first.event(2, "lists:42")])
        #expect(try await hers.nextEvents(2).map(\.number) == [1, 2])
        _ = try await his.nextEvent()
        // More than a notification of PostgreSQL can hold.
        let long = String(repeating: "x", count: 20_000)
        for text in ["short", long] {
          let payload = #"{"type":"broadcast","event":"said","payload":{"text":"\#(text)"}}"#
          try await hers.push(Self.list, "broadcast", payload)
          #expect(try await his.nextEvent().payload["payload"]?["text"]?.string == text)
        }
        try await hers.push(Self.list, "presence", #"{"event":"track","payload":{"mood":"fine"}}"#)
        let diff = try await his.nextPresenceDiff()
        #expect(diff.payload["joins"]?["alice"] != nil)
        let his2 = try await SocketClient.connect(second)
        try await his2.join("lists:42", bob.token, #""presence":{"key":"bob","enabled":true}"#)
        #expect(try await his2.next { $0.event == "presence_state" }.payload["alice"] != nil)
        try await hers.close()
        #expect(try await his.nextPresenceDiff().payload["leaves"]?["alice"] != nil)
      }
    }
  }
}
