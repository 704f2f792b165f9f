import Database
import Foundation
import Support
import Testing
import Wire

@testable import Events

/// `Last-Event-ID`, by which the reader of a stream says where it was.
@Suite struct StreamPositionTests {
  /// Its numbers are not those of the log that the stream reads next.
  @Test func whatWaitsForAStreamIsNotWrittenAfterTheLogWasReplaced() {
    let user = UserID.new(at: Date())
    let (watch, watches) = (StreamWatch(user: user, topics: ["lists:42"]), StreamWatches(live: LiveTopics()))
    watches.add(watch)
    let event = LoggedEvent(
      id: .new(at: Date()), name: "task_changed", payload: "{}", changes: nil, hiddenFrom: [], at: Date())
    let appended = AppendedEvent(
      position: 7, numbers: [.init(topic: "lists:42", seq: 7)], event: event, access: [])
    watches.appended([appended])
    watches.logWasReplaced()
    let work = watch.take()
    #expect(work.isBehind && work.entries.isEmpty)
    // The premise: events wait for it.
    watches.appended([appended])
    #expect(watch.take().entries.map(\.entry.seq) == [7])
  }

  /// A reader that was away while the log was set back, and that comes back when there are as many events again.
  @Test(arguments: engines) func whoComesBackIsToldThatTheLogWasSetBack(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let alice = try fixture.reader(of: "lists:1", "lists:2")
      let query = "topic=lists:1&topic=lists:2"
      func stream(after id: String?) async throws -> EventStreamClient {
        try await EventStreamClient(fixture.events, query, token: alice.token, lastEventID: id)
      }
      var first = try await stream(after: nil)
      _ = try await first.nextBlock()
      try await fixture.deliver([fixture.event(1, "lists:1"), fixture.event(2, "lists:2")])
      let last = try #require(try await first.next(2).last)
      #expect(last.places == ["lists:1": 1, "lists:2": 1])
      // The premise: of the same log the place is known, and nothing is missing.
      var again = try await stream(after: last.id)
      #expect(try await again.nextBlock()?.id == last.id)

      let database = try await fixture.testDatabase.open("events", [])
      try await database.write { try $0.change("update feed set epoch = 'another'") }
      await database.close()
      try await fixture.deliver([fixture.event(3, "lists:1")])
      var late = try await stream(after: last.id)
      let gaps = try await late.next(2)
      #expect(gaps.map(\.name) == ["gap", "gap"])
      #expect(gaps.map { $0.json["topic"] as? String } == ["lists:1", "lists:2"])
      #expect(gaps.map { $0.json["seq"] as? Int } == [2, 1])
      // Until both are told, the place of the second is still one of the log before.
      #expect(gaps[0].id == "lists:1=2,epoch=another,lists:2=1,epoch=\(last.epoch ?? "")")
      #expect(gaps[1].id == "lists:1=2,lists:2=1,epoch=another")
      var half = try await stream(after: gaps[0].id)
      let gap = try #require(try await half.next())
      #expect(gap.name == "gap" && gap.json["topic"] as? String == "lists:2" && gap.id == gaps[1].id)
      // What follows is complete, and ids of the version before say nothing of an epoch.
      for id in [gaps[1].id, "lists:1=2,lists:2=1"] {
        var next = try await stream(after: id)
        #expect(try await next.nextBlock()?.id == gaps[1].id)
        let number = try await fixture.deliver([fixture.event(4, "lists:2")])
        #expect(number == 1)
        let events = try await next.next(id == gaps[1].id ? 1 : 2)
        #expect(events.allSatisfy { $0.number == 4 && $0.epoch == "another" })
      }
    }
  }

  @Test(arguments: engines) func idsThatNoStreamHasSentAreRefused(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let alice = try fixture.reader(of: "lists:42")
      try await fixture.deliver([fixture.event(1, "lists:42")])
      for id in ["x", "-1", "lists:42", "lists:42=-1", "lists:42=1,epoch=", "lists:42=1,x=1", "epoch"] {
        let refused = try await EventStreamClient(
          fixture.events, "topic=lists:42", token: alice.token, lastEventID: id)
        #expect(refused.status == 400, "\(id)")
      }
      // Those of this version and of the one before, and of a stream that had other topics too.
      for id in ["0", "lists:42=0", "lists:7=3,lists:42=0", "lists:7=3,epoch=x,lists:42=0"] {
        var stream = try await EventStreamClient(fixture.events, "topic=lists:42", token: alice.token, lastEventID: id)
        #expect(try await stream.next()?.number == 1, "\(id)")
      }
    }
  }
}
