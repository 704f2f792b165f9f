import Database
import Foundation
import Support
import Web
import Wire

@testable import Events

extension Calls {
  func eventCalls() async throws {
    let lists = inside(stack.events, as: "lists")
    let reader = UserID.new(at: stack.clock.now).description
    let access: [[String: any Sendable]] = [
      ["topic": "lists:7", "user_id": reader, "may_read": false],
      ["topic": "lists:7", "user_id": reader, "may_read": true],
      // Of which the event has no number.
      ["topic": "lists:9", "user_id": reader, "may_read": true],
    ]
    let event: [String: any Sendable] = [
      "id": EventID.new(at: stack.clock.now).description, "topics": ["lists:7", "lists:8"], "name": "task_changed",
      "payload": ["task_id": 7], "at": "2026-11-21T08:15:30Z", "access": access,
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
      // Deletes the surplus of a long topic with the next event.
      let log = LogStore(database: database, trimInterval: 1)
      let event = FeedEvent(
        id: .new(at: now), topics: ["lists:9999"], name: "task_changed", payload: .object([:]), at: now)
      _ = try await log.append([EncodedFeedEvent(event)], at: now)
      let end = try await log.end()
      _ = try await log.events(after: end.position - 10)
      _ = try await log.top(of: "lists:7")
      _ = try await log.page(of: "lists:7", after: 20, epoch: nil, for: .new(at: now))
      try await log.beginEpoch(insteadOf: end.epoch, "another")
      try await LogSweep(database: database, logger: quiet, now: { now }).sweep()
      try await ConversationMessageSweep(database: database, logger: quiet, now: { now }).sweep()
      try await notificationCalls(database, now)
      let replicas = ReplicaStore(database: database)
      try await replicas.setLease(of: "here", until: now + 15)
      try await connectionCalls(database, now)
      let presences = PresenceStore(database: database)
      let entry = PresenceStore.Entry(topic: "lists:7", key: "alice", ref: "new", meta: "{}")
      _ = try await presences.add(entry, insteadOf: "old", by: "here")
      _ = try await presences.restore([entry], by: "here")
      _ = try await presences.entries(of: "lists:7", at: now)
      _ = try await replicas.removeExpired(at: now)
      // One of which there is nothing more.
      try await replicas.setLease(of: "empty", until: now - 7200)
      _ = try await replicas.removeExpired(at: now - 3600)
      try await presences.remove("new")
      let relay = ConversationRelay(database: database, logger: quiet, now: { clock.now })
      _ = try await relay.message(of: #"{"replica":"another","row":"\#(EventID.new(at: now))"}"#)
    }
  }

  private func connectionCalls(_ database: any Database, _ now: Date) async throws {
    let connections = OpenConnectionStore(database: database)
    let connection = OpenConnection(number: 1, user: .new(at: now))
    _ = try await connections.add(connection, of: "here", max: 10, at: now)
    try await connections.restore([connection], of: "here")
    try await connections.remove([connection.number], of: "here")
    let topics = OpenTopicStore(database: database)
    let entry = OpenTopicStore.Entry(topic: "lists:7", user: connection.user)
    try await topics.change([(entry, true)], of: "here")
    _ = try await topics.openers(of: ["lists:7"], among: [connection.user], except: "another", at: now)
    try await topics.change([(entry, false)], of: "here")
  }

  /// What is executed for notifications, which are sent only with a key of Apple's.
  private func notificationCalls(_ database: any Database, _ now: Date) async throws {
    let (user, other) = (UserID.new(at: now), UserID.new(at: now))
    let devices = DeviceStore(database: database)
    let device = Device(id: .new(at: now), token: "a", platform: .ios, createdAt: now, updatedAt: now)
    let event = EventID.new(at: now)
    try await database.write { db in
      let device = try DeviceStore.register(device, of: user, in: .new(at: now), on: db)
      try AlertStore.lock(user, on: db)
      _ = try AlertStore.wasNotified(user, of: event, on: db)
      _ = try PreferenceStore.preference(of: user, on: db)
      _ = try PreferenceStore.isMuted(.new(at: now), for: user, on: db)
      _ = try DeviceStore.pushed(of: user, signedOutAfter: now, on: db)
      _ = try AlertStore.count(of: user, since: now - 3600, on: db)
      try AlertStore.add(event, of: user, isSent: true, at: now, on: db)
      _ = try AlertStore.collapseID(of: "list_id:7", for: user, within: 60, at: now, on: db)
      try AlertStore.hold(event, for: device.id, until: now, on: db)
      _ = try AlertStore.heldCount(of: device.id, until: now, on: db)
      try AlertStore.deleteHeld(of: device.id, until: now, on: db)
      _ = try AlertStore.target(device.id, of: user, on: db)
      _ = try DeviceStore.hasDevices(user, on: db)
      try DeviceStore.setWoken(device.id, at: now, on: db)
      try DeviceStore.sessionEnded(.new(at: now), isKept: true, at: now, on: db)
      try DeviceStore.sessionEnded(.new(at: now), isKept: false, at: now, on: db)
      _ = try AlertStore.sweep(at: now, limit: 500, on: db)
    }
    try await devices.set(.sandbox, ofToken: "a")
    try await devices.delete(token: "a", invalidSince: now)
    try await devices.take(over: [
      TransferredDevice(
        id: .new(at: now), user: other, token: "b", platform: "ios", bundleID: nil, name: nil, osVersion: nil,
        appVersion: nil, createdAt: now, updatedAt: now)
    ])
    let preferences = PreferenceStore(database: database)
    let change = try JSON.decode(NotificationPreferenceChange.self, from: Data(#"{"push_enabled":true}"#.utf8))
    _ = try await preferences.change(change, of: user, at: now)
    try await preferences.mute(.new(at: now), for: user, at: now)
    try await preferences.unmute(.new(at: now), for: user)
    try await preferences.clearUnread(of: user)
  }
}
