import Database
import Foundation
import Support
import Synchronization
import Testing
import Web
import Wire

@testable import Events

/// What the log keeps, and what happens when its database is set back.
@Suite struct LogTests {
  @Test(arguments: engines) func theLastEntriesOfATopicAreKeptForADay(_ engine: Engine) async throws {
    try await withTestDatabase(engine) { testDatabase in
      let database = try await testDatabase.open(eventsSchema)
      let log = LogStore(database: database, entriesMax: 4, trimInterval: 2)
      let start = Date()
      func append(_ count: Int, to topics: String...) async throws {
        _ = try await log.append((1...count).map { event($0, topics) }, at: start)
      }
      func sweep(after seconds: TimeInterval) async throws {
        try await LogSweep(database: database, logger: quiet, now: { start + seconds }).sweep()
      }
      func numbers(_ topic: String) async throws -> [Int] {
        guard case .gap(let gap) = try await log.page(of: topic, after: -1, epoch: nil),
          case .entries(let entries, _) = try await log.page(of: topic, after: gap.oldest - 1, epoch: nil)
        else { return [] }
        return entries.map(\.seq)
      }
      try await append(6, to: "lists:1", "lists:2")
      #expect(try await numbers("lists:1") == [3, 4, 5, 6])
      // Only with every second one.
      try await append(1, to: "lists:1")
      #expect(try await numbers("lists:1") == [3, 4, 5, 6, 7])
      try await append(1, to: "lists:1")
      #expect(try await numbers("lists:1") == [5, 6, 7, 8])
      #expect(try await numbers("lists:2") == [3, 4, 5, 6])
      try await sweep(after: 23 * 3600)
      #expect(try await numbers("lists:1") == [5, 6, 7, 8])
      try await sweep(after: 25 * 3600)
      #expect(try await numbers("lists:1") == [])
      #expect(try await testDatabase.count("event", in: "events") == 0)
      #expect(try await testDatabase.count("topic_event", in: "events") == 0)
      // The numbers go on.
      try await append(1, to: "lists:1")
      #expect(try await numbers("lists:1") == [9])
      await database.close()
    }
  }

  /// More than one statement takes, in topics of their own and in one that all share, and some of them twice.
  @Test(arguments: engines) func aLargeDeliveryIsNumberedWithoutHoles(_ engine: Engine) async throws {
    try await withTestDatabase(engine) { testDatabase in
      let database = try await testDatabase.open(eventsSchema)
      let log = LogStore(database: database)
      let events = (1...207).map { event($0, ["lists:1", "users:\($0 % 50)"]) }
      #expect(try await log.append(Array(events[..<100]), at: Date()).events.count == 100)
      #expect(try await log.append(events + events, at: Date()).events.count == 107)
      guard case .entries(let entries, let top) = try await log.page(of: "lists:1", after: 0, epoch: nil) else {
        throw Unexpected(reply: "no entries")
      }
      #expect(top == 207 && entries.map(\.seq) == Array(1...207) && entries.map(\.event.id) == events.map(\.id))
      guard case .entries(let others, _) = try await log.page(of: "users:7", after: 0, epoch: nil) else {
        throw Unexpected(reply: "no entries")
      }
      #expect(others.map(\.seq) == [1, 2, 3, 4, 5])
      #expect(others.map(\.event.id) == [7, 57, 107, 157, 207].map { events[$0 - 1].id })
      #expect(try await log.events(after: 0).events.map(\.position) == Array(1...207))
      await database.close()
    }
  }

  /// The log is looked at without a signal only once in an hour here.
  @Test func aNotificationWakesUpTheOtherReplica() async throws {
    guard engines.contains(.postgres) else { return }
    try await withTestDatabase(.postgres) { testDatabase in
      let database = try await testDatabase.open(eventsSchema)
      let dependencies = Dependencies(Settings(testDatabase.settings), logger: quiet)
      let (changes, observer) = (ChangeSignal(), Replacements())
      let (writer, store) = (LogStore(database: database, replica: "another"), LogStore(database: database))
      let hub = RealtimeHub(
        metrics: EventMetrics(in: dependencies), live: LiveTopics(), now: dependencies.now)
      let notifications = try ReplicaNotifications(
        url: try #require(try dependencies.directPostgresURL(eventsSchema)), changes: changes,
        relay: ConversationRelay(database: database, logger: quiet, now: dependencies.now), hub: hub, logger: quiet)
      let tail = LogTail(
        store: store, changes: changes, observers: [observer], logger: quiet, pollInterval: { .seconds(3600) })
      try await running([tail, notifications]) {
        // The premise: the tail has begun, and the connection is there.
        try await eventually("the tail") {
          _ = try await writer.append([event(0)], at: Date())
          return observer.appendedCount > 0
        }
        let appended = try await store.end().position
        for number in 1...3 {
          _ = try await writer.append([event(number)], at: Date())
          let position = appended + number
          try await eventually("event \(number)") { observer.lastPosition == position }
        }
      }
      await database.close()
    }
  }

  @Test(arguments: engines) func eventsOfThisProcessAndOfOthersComeOnceAndInTheirOrder(_ engine: Engine) async throws {
    try await withTestDatabase(engine) { testDatabase in
      let database = try await testDatabase.open(eventsSchema)
      let (own, other) = (LogStore(database: database), LogStore(database: database))
      let (changes, observer) = (ChangeSignal(), Positions())
      let tail = LogTail(
        store: own, changes: changes, observers: [observer], logger: quiet, pollInterval: { .seconds(3600) })
      try await running([tail]) {
        try await eventually("the tail") {
          await tail.append(try await own.append([event(0)], at: Date()))
          return !observer.all.isEmpty
        }
        let begun = try #require(observer.all.last)
        try await withThrowingTaskGroup(of: Void.self) { group in
          for task in 0..<20 {
            group.addTask {
              for number in 0..<10 {
                let events = [event(number), event(number)]
                if task < 10 {
                  await tail.append(try await own.append(events, at: Date()))
                } else {
                  _ = try await other.append(events, at: Date())
                  changes.send()
                }
              }
            }
          }
          try await group.waitForAll()
        }
        try await eventually("all") { observer.all.last == begun + 400 }
        #expect(observer.all.suffix(400) == Array(begun + 1...begun + 400)[...])
      }
      await database.close()
    }
  }

  /// The positions of all events, in the order in which they came.
  private final class Positions: LogObserver {
    private let positions = Mutex<[Int]>([])
    var all: [Int] { positions.withLock { $0 } }
    func appended(_ events: [AppendedEvent]) { positions.withLock { $0 += events.map(\.position) } }
    func logWasReplaced() {}
  }

  @Test(arguments: engines) func theLogKeepsWhatIsDocumented(_ engine: Engine) async throws {
    try await withTestDatabase(engine) { testDatabase in
      let database = try await testDatabase.open(eventsSchema)
      let log = LogStore(database: database)
      #expect(log.entriesMax == 10_000 && log.trimInterval <= log.entriesMax / 10)
      #expect(LogSweep.lifetime == 24 * 3600)
      await database.close()
    }
  }

  @Test(arguments: engines) func theServiceDeletesWhatIsOlderThanThat(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      try await fixture.deliver((1...3).map { fixture.event($0, "lists:42") })
      let database = try await fixture.testDatabase.open("events", [])
      let day = fixture.clock.now - LogSweep.lifetime
      try await database.write { db in
        try db.change("update event set stored_at = \(day - 60) where position < 3")
      }
      await database.close()
      // It looks at its start, and every minute.
      try await withEvents(on: fixture.testDatabase, fixture.owner) { _ in
        try await eventually("the end of what is old") {
          try await fixture.testDatabase.count("event", in: "events") == 1
        }
        #expect(try await fixture.testDatabase.count("topic_event", in: "events") == 1)
      }
    }
  }

  private final class Replacements: LogObserver {
    private let counts = Mutex((appended: 0, replaced: 0, lastPosition: 0))
    func appended(_ events: [AppendedEvent]) {
      counts.withLock { counts in
        counts.appended += events.count
        counts.lastPosition = events.last?.position ?? counts.lastPosition
      }
    }
    var lastPosition: Int { counts.withLock { $0.lastPosition } }
    func logWasReplaced() { counts.withLock { $0.replaced += 1 } }
    var appendedCount: Int { counts.withLock { $0.appended } }
    var replacedCount: Int { counts.withLock { $0.replaced } }
  }

  /// A reader that catches up reads the log itself, before the tail of its process does. Set back to a place behind the
  /// reader, but not behind the tail, the log would reuse numbers that the reader takes for known.
  @Test(arguments: engines, [true, false])
  func aDatabaseThatWasSetBackBehindAReaderBeginsAnEpoch(_ engine: Engine, isSetBack: Bool) async throws {
    try await withTestDatabase(engine) { testDatabase in
      let database = try await testDatabase.open(eventsSchema)
      // Those of other replicas and of this process.
      let (writer, store) = (LogStore(database: database), LogStore(database: database))
      let (changes, observer) = (ChangeSignal(), Replacements())
      func append(_ numbers: ClosedRange<Int>) async throws {
        _ = try await writer.append(numbers.map(event), at: Date())
      }
      let tail = LogTail(
        store: store, changes: changes, observers: [observer], logger: quiet, pollInterval: { .seconds(3600) })
      try await running([tail]) {
        // The tail has begun: it passes on what comes now, and then waits.
        try await eventually("the tail") {
          try await append(1...1)
          changes.send()
          return observer.appendedCount > 0
        }
        let begun = try await store.end()
        // A signal of the loop may be left, which makes the tail read what comes next.
        try await eventually("the end of the log") { observer.lastPosition == begun.position }
        let appended = observer.appendedCount
        try await append(2...5)
        guard case .entries(_, let top) = try await store.page(of: "lists:42", after: 0, epoch: begun.epoch) else {
          throw Unexpected(reply: "no entries")
        }
        if isSetBack { try await setBack(database, to: begun.position + 2, seq: top - 2) }
        changes.send()
        try await eventually("what follows") {
          isSetBack ? observer.replacedCount > 0 : observer.appendedCount >= appended + 4
        }
        #expect(observer.replacedCount == (isSetBack ? 1 : 0))
        let page = try await store.page(of: "lists:42", after: top, epoch: begun.epoch)
        if case .gap(let gap) = page {
          #expect(isSetBack && gap.epoch != begun.epoch && gap.top == top - 2)
        } else {
          #expect(!isSetBack)
        }
      }
      await database.close()
    }
  }

  private func event(_ number: Int) -> FeedEvent { event(number, ["lists:42"]) }

  private func event(_ number: Int, _ topics: [String]) -> FeedEvent {
    FeedEvent(
      id: .new(at: Date()), topics: topics, name: "task_changed", payload: .object(["number": .integer(number)]),
      at: Date(), change: nil, access: nil)
  }
}

extension LogStore {
  @discardableResult
  func append(
    _ events: [FeedEvent], at now: Date,
    onAppended: @escaping @Sendable ([EncodedFeedEvent], any Connection) throws -> Void = { _, _ in }
  ) async throws -> AppendedBatch {
    try await append(try events.map { try EncodedFeedEvent($0) }, at: now, onAppended: onAppended)
  }

  /// As somebody reads it who may read all of it.
  fileprivate func page(of topic: String, after seq: Int, epoch: String?) async throws -> LogPage {
    try await page(of: topic, after: seq, epoch: epoch, for: .new(at: Date()))
  }
}
