import Database
import Foundation
import Support
import Testing
import Web
import Wire

@testable import Events

/// What the log keeps, and what happens when its database is set back.
@Suite struct LogTests {
  @Test(arguments: engines) func theLastEntriesOfATopicAreKeptForADay(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      try await fixture.deliver((1...6).map { fixture.event($0, "lists:1", "lists:2") })
      try await fixture.deliver([fixture.event(7, "lists:1")])
      let database = try await fixture.testDatabase.open("events", [])
      func sweep(after seconds: TimeInterval, entriesMax: Int) async throws {
        let now = fixture.clock.now + seconds
        try await LogSweep(database: database, logger: quiet, now: { now }, entriesMax: entriesMax).sweep()
      }
      func numbers(_ topic: String) async throws -> [Int] {
        let log = LogStore(database: database)
        guard case .gap(let gap) = try await log.page(of: topic, after: 0, epoch: nil),
          case .entries(let entries, _) = try await log.page(of: topic, after: gap.oldest - 1, epoch: nil)
        else { return [] }
        return entries.map(\.seq)
      }
      try await sweep(after: 0, entriesMax: 4)
      #expect(try await numbers("lists:1") == [4, 5, 6, 7])
      #expect(try await numbers("lists:2") == [3, 4, 5, 6])
      try await sweep(after: 23 * 3600, entriesMax: 10)
      #expect(try await numbers("lists:1") == [4, 5, 6, 7])
      try await sweep(after: 25 * 3600, entriesMax: 10)
      #expect(try await numbers("lists:1") == [])
      #expect(try await fixture.testDatabase.count("event", in: "events") == 0)
      // The numbers go on.
      try await fixture.deliver([fixture.event(8, "lists:1")])
      #expect(try await numbers("lists:1") == [8])
      await database.close()
    }
  }

  @Test(arguments: engines) func aDatabaseThatWasSetBackBeginsAnEpoch(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let alice = try fixture.reader(of: "lists:42")
      let socket = try await SocketClient.connect(fixture)
      let reply = try await socket.join("realtime:lists:42", alice.token)
      try await fixture.deliver((1...3).map { fixture.event($0, "lists:42") })
      #expect(try await socket.nextEvents(3).map(\.number) == [1, 2, 3])
      let database = try await fixture.testDatabase.open("events", [])
      try await database.write { db in
        try db.change("delete from topic_event where position > 1")
        try db.change("delete from event where position > 1")
        try db.change("update topic set seq = 1")
        try db.change("update feed set position = 1")
      }
      await database.close()
      let gap = try await socket.nextEvent()
      #expect(gap.name == "gap")
      #expect(gap.payload["payload"]?["seq"] == .integer(1))
      let epoch = try #require(gap.payload["payload"]?["epoch"]?.string)
      #expect(.string(epoch) != reply.payload["response"]?["epoch"])
      try await fixture.deliver([fixture.event(4, "lists:42")])
      let next = try await socket.nextEvent()
      #expect(next.number == 4 && next.seq == 2)
    }
  }
}
