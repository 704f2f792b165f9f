import Clients
import Database
import Foundation
import Outbox
import ServiceLifecycle
import Tokens
import Web
import Wire

/// Wires the parts of notifications. Without `APNS_*` devices and preferences are kept, and nothing is sent.
struct PushModule: Sendable {
  let background: [any Service]
  private let outbox: Outbox
  private let inbox: Outbox
  private let isEnabled: Bool

  /// - Parameter settings: nil without `APNS_*`.
  init(
    _ settings: APNsSettings?, in dependencies: Dependencies, database: any Database, keys: DataKeys,
    users: UsersClient, audience: PushAudience
  ) throws {
    let (now, texts) = (dependencies.now, try PushTexts())
    let metrics = PushMetrics(in: dependencies.registry)
    let client = settings.map { APNsClient($0, now: now) }
    let sending = client.map { client in
      AlertDelivery(
        database: database,
        sender: PushSender(
          client: client, devices: DeviceStore(database: database), metrics: metrics, logger: dependencies.logger,
          now: now),
        texts: texts, metrics: metrics, now: now)
    }
    // As many requests at a time as an HTTP/2 connection has room for, at least.
    let outbox = Outbox(
      database: database, keys: keys, in: dependencies, configuration: WorkerConfiguration(concurrency: 64),
      deliveries: sending?.deliveries ?? [])
    let planner = PushPlanner(
      database: database, outbox: outbox, users: users, audience: audience, texts: texts, metrics: metrics, now: now)
    let backgroundPlanner = BackgroundPushPlanner(database: database, outbox: outbox, audience: audience, now: now)
    inbox = Outbox(
      "inbox", database: database, keys: keys, in: dependencies,
      deliveries: settings == nil ? [] : [planner.delivery, backgroundPlanner.delivery])
    self.outbox = outbox
    isEnabled = settings != nil
    let sweep = PushSweep(database: database, logger: dependencies.logger, now: now)
    // The client is stopped last.
    background = (client.map { [$0] } ?? []) + [sweep] + (settings == nil ? [] : [outbox, inbox])
  }

  /// Writes the events of which users are to be notified to the inbox, and deletes the devices of sessions that have
  /// ended, in the transaction in which the events are appended to the log.
  func appended(_ events: [EncodedFeedEvent], at now: Date, on db: any Connection) throws {
    for encoded in events
    where encoded.name == "session_ended" || isEnabled && PushRule.isFor(eventsNamed: encoded.name) {
      let event = try encoded.decoded()
      if event.name == "session_ended", case .string(let text) = event.payload["session_id"],
        let session = SessionID(text)
      {
        let isKept = event.payload["reason"] == .string("refresh_token_reused")
        try DeviceStore.sessionEnded(session, isKept: isKept, at: now, on: db)
      }
      guard isEnabled, PushRule.rule(for: event) != nil else { continue }
      try inbox.add(
        NotifiedEventMessage.kind, NotifiedEventMessage(event: event), deduplicationKey: "\(event.id)", at: now, on: db)
    }
    if isEnabled { try BackgroundPushPlanner.add(changesOfLists: events, to: inbox, at: now, on: db) }
  }

  /// Call it after the commit of ``appended(_:at:on:)``.
  func wakeUp() { if isEnabled { inbox.wakeUp() } }

  /// Deletes the messages for a user.
  func erase(_ user: UserID, on db: any Connection) throws {
    try outbox.erase(user, on: db)
    try inbox.erase(user, on: db)
  }
}
