import Database
import Foundation
import Support
import Synchronization
import Testing
import Wire

@testable import EventFeed

/// The events of a topic arrive in the order in which its changes were committed.
@Suite struct EventOrderTests {
  @Test(arguments: engines) func fiftyWritersAndTwoReplicasKeepTheOrderOfATopic(engine: Engine) async throws {
    try await withEventFeed(engine) { fixture in
      fixture.receiver.behavior = .unreliable
      let replicas = [try await fixture.replica(), try await fixture.replica()]
      let writes = Task {
        try await atOnce(50) { writer in
          for round in 0..<6 {
            try await fixture.increment("topic \((writer + round) % 5)", in: replicas[writer % 2])
          }
        }
      }
      // Replicas are killed in the middle of a delivery, and come back.
      let isDone = Flag()
      let chaos = Task {
        var killCount = 0
        while !isDone.isRaised {
          let delivery = Task {
            try await withThrowingDiscardingTaskGroup { group in
              for service in replicas.flatMap(\.background) { group.addTask { try await service.run() } }
            }
          }
          // Ever later, so that a delivery ends on any machine.
          killCount += 1
          try await Task.sleep(for: .milliseconds(Int.random(in: 50...400 + 20 * killCount)))
          delivery.cancel()
          _ = await delivery.result
        }
      }
      _ = try await writes.value
      try await eventually { fixture.receiver.events.count == 300 }
      isDone.raise()
      try await chaos.value
      for topic in 0..<5 { #expect(fixture.values("topic \(topic)") == Array(1...60)) }
    }
  }

  /// The position of an event is taken before its commit: another transaction takes a later one and commits first.
  @Test(.enabled(if: engines.contains(.postgres))) func aLateCommitIsNeitherLostNorOvertaken() async throws {
    try await withEventFeed(.postgres) { fixture in
      let feed = try await fixture.replica()
      let slow = try await fixture.testDatabase.open("feed", [])
      let (hasInserted, mayCommit) = (Flag(), Flag())
      // Also when the test fails: the transaction would keep its locks.
      defer { mayCommit.raise() }
      let now = fixture.clock.now
      try await running(feed.background) {
        let late = Task {
          try await slow.write { db in
            let recording = EventRecordingConnection(inner: db)
            _ = try EventFeedFixture.increment("a", at: now, on: recording)
            try recording.insertEvents()
            // Sends what is queued.
            _ = try db.rows("select 1 as one")
            hasInserted.raise()
            // A body runs on a thread of the connection, which may block.
            while !mayCommit.isRaised { Thread.sleep(forTimeInterval: 0.01) }
          }
        }
        try await eventually { hasInserted.isRaised }
        // A later writer of the same topic waits for the lock of the first.
        let next = Task { try await fixture.increment("a", in: feed) }
        for _ in 1...3 { try await fixture.increment("b", in: feed) }
        try await eventually { fixture.values("b") == [1, 2, 3] }
        #expect(fixture.values("a").isEmpty)
        mayCommit.raise()
        #expect(try await next.value == 2)
        try await late.value
        try await eventually { fixture.values("a") == [1, 2] }
      }
      await slow.close()
    }
  }

  @Test(arguments: engines) func aReplicaDeliversWhatAnotherHasLeftBehind(engine: Engine) async throws {
    try await withEventFeed(engine) { fixture in
      let (dead, alive) = (try await fixture.replica(), try await fixture.replica())
      fixture.receiver.behavior = .hanging
      for _ in 1...3 { try await fixture.increment("a", in: dead) }
      // It dies during its delivery, and keeps the lease: a cancelled task would release it.
      let end = fixture.clock.now + 2
      let now = fixture.clock.now
      try await dead.database.write { db in
        _ = try EventOutboxStore.next(after: [], lease: "dead", until: end, at: now, limit: 10, on: db)
      }
      fixture.receiver.behavior = .normal
      try await running(alive.background) {
        try await fixture.increment("a", in: alive)
        #expect(fixture.values("a").isEmpty || fixture.clock.now >= end)
        try await eventually { fixture.values("a") == [1, 2, 3, 4] }
        #expect(fixture.clock.now >= end)
      }
    }
  }
}
