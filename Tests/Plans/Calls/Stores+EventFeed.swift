import Support
import Wire

@testable import EventFeed

extension Calls {
  /// What a feed does when events could not be delivered.
  func eventFeedStoreCalls() async throws {
    let (now, user) = (stack.clock.now, UserID.new(at: stack.clock.now))
    try await withDatabase(of: "credits") { database in
      try await database.write { db in
        for number in 1...3 {
          let event = NewEvent(
            id: .new(at: now), topics: ["lists:\(number)"], name: "list_changed", payload: [:], at: now)
          try EventOutboxStore.insert(event, of: user, on: db)
        }
        _ = try EventOutboxStore.hasEvents(on: db)
        _ = try EventOutboxStore.oldest(limit: 10, on: db)
        _ = try EventOutboxStore.excess(over: 1, limit: 10, on: db)
        try EventFeed.erase(user, at: now, on: db)
        let batch = try EventOutboxStore.next(after: [], lease: "plans", until: now, at: now, limit: 10, on: db)
        try EventOutboxStore.release("plans", after: batch.events.map(\.position), on: db)
      }
    }
  }
}
