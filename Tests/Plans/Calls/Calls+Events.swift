import Database
import Foundation
import Support
import Web
import Wire

@testable import Events

extension Calls {
  func eventCalls() async throws {
    let lists = inside(stack.events, as: "lists")
    let event: [String: any Sendable] = [
      "id": EventID.new(at: stack.clock.now).description, "topics": ["lists:7", "lists:8"], "name": "task_changed",
      "payload": ["task_id": 7], "at": "2026-11-21T08:15:30Z",
    ]
    for _ in 0..<2 { try await lists.ok(.POST, "/internal/events", ["events": [event]]) }
    let long = ["text": String(repeating: "x", count: 20_000)]
    let message: [String: any Sendable] = ["topic": "lists:7", "event": "said", "payload": long]
    try await lists.ok(.POST, "/realtime/v1/api/broadcast", ["messages": [message]])
    let user = UserID.new(at: stack.clock.now)
    let auth = inside(stack.events, as: "auth")
    try await auth.ok(.GET, "/internal/users/\(user)/data")
    try await auth.ok(.DELETE, "/internal/users/\(user)/data")
  }

  /// What sockets, streams and background jobs read and write.
  func eventStoreCalls() async throws {
    let clock = stack.clock
    let now = clock.now
    try await withDatabase(of: "events") { database in
      let log = LogStore(database: database)
      let end = try await log.end()
      _ = try await log.events(after: end.position - 10)
      _ = try await log.top(of: "lists:7")
      _ = try await log.page(of: "lists:7", after: 20, epoch: nil)
      try await log.beginEpoch(insteadOf: end.epoch, "another")
      try await LogSweep(database: database, logger: quiet, now: { now }).sweep()
      let presences = PresenceStore(database: database)
      try await presences.extendLease(of: "here", at: now)
      let entry = PresenceStore.Entry(topic: "lists:7", key: "alice", ref: "new", meta: "{}")
      _ = try await presences.add(entry, insteadOf: "old", by: "here")
      _ = try await presences.entries(of: "lists:7", at: now)
      _ = try await presences.removeExpired(at: now)
      try await presences.remove("new")
      let relay = ConversationRelay(database: database, logger: quiet, now: { clock.now })
      _ = try await relay.message(of: #"{"replica":"another","row":"\#(EventID.new(at: now))"}"#)
    }
  }
}
