import Database
import Foundation
import Support
import Testing
import Wire

@testable import Events

/// Who is present on several replicas that share a PostgreSQL database.
@Suite struct PresenceTests {
  private static let list = "realtime:lists:42"
  private static let track = #"{"type":"presence","event":"track","payload":{"mood":"fine"}}"#

  private static func config(_ key: String) -> String { #""presence":{"key":"\#(key)","enabled":true}"# }

  /// Whose lease has expired is no longer present for the others, until the lease is taken again.
  @Test func whoWasTakenForGoneIsPresentAgain() async throws {
    guard engines.contains(.postgres) else { return }
    try await withEvents(.postgres) { first in
      try await withEvents(on: first.testDatabase, first.owner) { second in
        let (alice, bob) = (try first.reader(of: "lists:42"), try first.reader(of: "lists:42"))
        let (hers, his) = (try await SocketClient.connect(first), try await SocketClient.connect(second))
        try await his.join(Self.list, bob.token, Self.config("bob"))
        for key in ["alice", "gone"] {
          let socket = key == "alice" ? hers : try await SocketClient.connect(first)
          try await socket.join(Self.list, alice.token, Self.config(key))
          #expect(try await socket.call(Self.list, "presence", Self.track).status == "ok")
          #expect(try await his.nextPresenceDiff().payload["joins"]?[key] != nil)
          if key == "gone" { try await socket.close() }
        }
        #expect(try await his.nextPresenceDiff().payload["leaves"]?["gone"] != nil)
        // As long as the first replica does not reach the database, its time does not pass here.
        second.clock.advance(by: .seconds(20))
        #expect(try await his.nextPresenceDiff().payload["leaves"]?["alice"] != nil)
        first.clock.advance(by: .seconds(20))
        let back = try await his.nextPresenceDiff()
        #expect(back.payload["joins"]?["alice"]?["metas"]?.array?.first?["mood"] == "fine")
        #expect(back.payload["joins"]?["gone"] == nil && back.payload["leaves"] == .object([:]))
        let late = try await SocketClient.connect(second)
        try await late.join(Self.list, bob.token, Self.config("bob"))
        #expect(try await late.next { $0.event == "presence_state" }.payload["alice"] != nil)
        // What ends later ends as ever.
        try await hers.close()
        #expect(try await his.nextPresenceDiff().payload["leaves"]?["alice"] != nil)
      }
    }
  }

  @Test(arguments: engines) func ofManyAtOnceAHundredArePresent(_ engine: Engine) async throws {
    try await withTestDatabase(engine) { testDatabase in
      let database = try await testDatabase.open(eventsSchema)
      let presences = PresenceStore(database: database)
      try await ReplicaStore(database: database).setLease(of: "here", until: Date() + 3600)
      func entry(_ number: Int, on topic: String = "lists:42") -> PresenceStore.Entry {
        PresenceStore.Entry(topic: topic, key: "key", ref: "\(topic) \(number)", meta: "{}")
      }
      for number in 1...80 { #expect(try await presences.add(entry(number), insteadOf: nil, by: "here")) }
      let added = try await atOnce(50) { number in
        let entry = PresenceStore.Entry(topic: "lists:42", key: "key", ref: "late \(number)", meta: "{}")
        return try await presences.add(entry, insteadOf: nil, by: "here")
      }
      #expect(added.count { $0 } == 20)
      #expect(try await presences.entries(of: "lists:42", at: Date()).count == 100)
      // One takes the place of its own, and another topic is not concerned.
      #expect(try await presences.add(entry(101), insteadOf: entry(1).ref, by: "here"))
      #expect(try await presences.add(entry(1, on: "lists:43"), insteadOf: nil, by: "here"))
      #expect(try await !presences.add(entry(102), insteadOf: nil, by: "here"))
      await database.close()
    }
  }
}
