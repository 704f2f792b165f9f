import Database
import Foundation
import Support
import Testing
import Wire

@testable import Events

/// A log that has an earlier state than before: numbers that clients have are given again.
@Suite struct SetBackLogTests {
  @Test(arguments: engines) func aDatabaseThatWasSetBackBeginsAnEpoch(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let alice = try fixture.reader(of: "lists:42")
      let socket = try await SocketClient.connect(fixture)
      let reply = try await socket.join("realtime:lists:42", alice.token)
      try await fixture.deliver((1...3).map { fixture.event($0, "lists:42") })
      #expect(try await socket.nextEvents(3).map(\.number) == [1, 2, 3])
      let database = try await fixture.testDatabase.open("events", [])
      try await setBack(database, to: 1, seq: 1)
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

  /// Channels of all rows know the place of the last row in the whole log, which is then used again.
  @Test(arguments: engines) func aChannelOfAllRowsGoesOnAfterTheLogWasSetBack(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let alice = try fixture.reader(of: "lists:42")
      let socket = try await SocketClient.connect(fixture)
      try await socket.join("realtime:anything", alice.token, #""postgres_changes":[{"event":"*","schema":"*"}]"#)
      func row(_ number: Int) -> FeedEvent {
        let record = JSONValue.object(["number": .integer(number)])
        return fixture.event(number, "lists:42", change: RowChange(table: "tasks", type: .insert, record: record))
      }
      try await fixture.deliver((1...3).map(row))
      #expect(try await socket.nextEvents(3).map(\.number) == [1, 2, 3])
      let database = try await fixture.testDatabase.open("events", [])
      try await setBack(database, to: 1, seq: 1)
      await database.close()
      #expect(try await socket.nextEvent().name == "gap")
      try await fixture.deliver([row(4)])
      #expect(try await socket.nextEvent().number == 4)
    }
  }

  /// What is delivered next makes the log longer than it was: its length does not tell that it was set back.
  @Test(arguments: engines) func theNextDeliveryBeginsTheEpoch(_ engine: Engine) async throws {
    try await withTestDatabase(engine) { testDatabase in
      let database = try await testDatabase.open(eventsSchema)
      let log = LogStore(database: database)
      func events(_ count: Int) -> [FeedEvent] {
        (1...count).map { number in
          FeedEvent(
            id: .new(at: Date()), topics: ["lists:42"], name: "task_changed",
            payload: .object(["number": .integer(number)]), at: Date(), change: nil, access: nil)
        }
      }
      _ = try await log.append(events(10), at: Date())
      let read = try await log.end()
      let further = try await log.append(events(1), at: Date()).end
      #expect(further?.epoch == read.epoch && further?.position == 11)
      try await setBack(database, to: 5, seq: 5)
      let end = try #require(try await log.append(events(64), at: Date()).end)
      #expect(end.position == 69 && end.epoch != read.epoch)
      #expect(try await log.end() == end)
      await database.close()
    }
  }
}

/// As a backup or a standby that takes over, which lack the last events.
func setBack(_ database: any Database, to position: Int, seq: Int) async throws {
  try await database.write { db in
    try db.change("delete from topic_event where position > \(position)")
    try db.change("delete from event where position > \(position)")
    try db.change("update topic set seq = \(seq)")
    try db.change("update feed set position = \(position)")
  }
}
