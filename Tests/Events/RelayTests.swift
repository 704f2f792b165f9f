import Database
import Foundation
import Support
import Testing
import Wire

@testable import Events

/// What waits for other replicas.
@Suite struct RelayTests {
  @Test func theOldestAreLeftOutBeyondANumberOrBytes() {
    var queue = RelayQueue<Int>(countMax: 3, bytesMax: 100)
    for number in 1...3 { #expect(queue.append(number, bytes: 10) == 0) }
    #expect(queue.append(4, bytes: 10) == 1)
    // 2, 3 and 4 wait.
    #expect(queue.append(5, bytes: 85) == 2)
    #expect(queue.next(10) == [4, 5])
    #expect(queue.next(10) == nil)
    // What was taken no longer counts, and one that is too long by itself goes alone.
    #expect(queue.append(6, bytes: 90) == 0)
    #expect(queue.append(7, bytes: 200) == 1)
    #expect(queue.next(1) == [7])
    for number in 8...10 { #expect(queue.append(number, bytes: 30) == 0) }
    #expect(queue.next(2) == [8, 9] && queue.next(2) == [10])
  }

  @Test(arguments: engines) func longMessagesAreDeletedAfterAMinute(_ engine: Engine) async throws {
    try await withTestDatabase(engine) { testDatabase in
      let database = try await testDatabase.open(eventsSchema)
      let start = Date()
      try await database.write { db in
        for age in [10.0, 50, 70, 3600] {
          let at = start - age
          try db.change(
            "insert into conversation_message (id, body, created_at) values (\(EventID.new(at: at)), 'said', \(at))")
        }
      }
      try await ConversationMessageSweep(database: database, logger: quiet, now: { start }).sweep()
      #expect(try await testDatabase.count("conversation_message", in: "events") == 2)
      await database.close()
    }
  }
}
