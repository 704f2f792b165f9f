import Clients
import Database
import Foundation
import Outbox
import Wire

/// Decides who is notified of an event, on which devices and with which text, and writes the alerts to the outbox.
struct PushPlanner: Sendable {
  let database: any Database
  let outbox: Outbox
  let users: UsersClient
  let audience: PushAudience
  let texts: PushTexts
  let metrics: PushMetrics
  let now: @Sendable () -> Date

  /// Of one user.
  static let alertsMaxPerHour = 30
  /// How long alerts about one thing replace each other on a device.
  static let collapseSeconds = 60.0
  /// How long a device may be away and still get an alert.
  static let lifetimeSeconds = 86_400.0

  private static let batchSize = 50

  /// What an event was translated into for one user.
  private struct Notification: Sendable {
    let user: UserID
    let locale: String?
    let timeZone: TimeZone?
    let body: String
  }

  /// Notifies of events of the last hours; older ones are no news.
  var delivery: Delivery {
    Delivery(NotifiedEventMessage.kind, giveUpAfter: .seconds(6 * 3600)) { message in
      try await plan(try message.decode(NotifiedEventMessage.self).event)
    }
  }

  /// Safe to repeat.
  func plan(_ event: FeedEvent) async throws {
    guard let rule = PushRule.rule(for: event) else { return }
    let now = now()
    let expiresAt = event.push?.expiresAt ?? event.at + Self.lifetimeSeconds
    guard expiresAt > now else { return metrics.suppressed(.expired) }
    let users = rule.users(of: event, with: try await audience.readers(of: event.push?.readersOf))
    let away = try await audience.away(from: event.topics, among: users)
    for _ in away.count..<users.count { metrics.suppressed(.open) }
    // A bounded number of rows is locked at a time.
    for start in stride(from: 0, to: away.count, by: Self.batchSize) {
      let notifications = try await notifications(of: event, rule, for: Array(away[start...].prefix(Self.batchSize)))
      let count = try await database.write { db in
        try notifications.reduce(0) { count, notification in
          try count + add(notification, of: event, rule, expiresAt: expiresAt, at: now, on: db)
        }
      }
      if count > 0 { outbox.wakeUp() }
    }
  }

  private func notifications(of event: FeedEvent, _ rule: PushRule, for users: [UserID]) async throws -> [Notification]
  {
    let actor = rule.actor(of: event)
    let people = try await self.users.names(of: Set(users + [actor].compactMap(\.self)))
    return users.map { user in
      let person = people[user]
      let body = texts.text(
        rule.text, locale: person?.locale, actor: actor.flatMap { people[$0]?.name }, subject: rule.subject(of: event))
      return Notification(
        user: user, locale: person?.locale, timeZone: person?.timeZone.flatMap { TimeZone(identifier: $0) }, body: body)
    }
  }

  /// - Returns: how many messages were written.
  private func add(
    _ notification: Notification, of event: FeedEvent, _ rule: PushRule, expiresAt: Date, at now: Date,
    on db: any Connection
  ) throws -> Int {
    let user = notification.user
    // Locks the row, so that the alerts of a user are counted one after the other.
    try AlertStore.lock(user, on: db)
    guard try !AlertStore.wasNotified(user, of: event.id, on: db) else { return 0 }
    let preference = try PreferenceStore.preference(of: user, on: db)
    guard preference.allows(rule.kind) else {
      metrics.suppressed(.preference)
      return 0
    }
    if let group = rule.group(of: event), try PreferenceStore.isMuted(group, for: user, on: db) {
      metrics.suppressed(.muted)
      return 0
    }
    let devices = try DeviceStore.pushed(of: user, signedOutAfter: rule.kind.isUrgent ? now - 3600 : nil, on: db)
    guard !devices.isEmpty else { return 0 }
    let isLimited =
      try !rule.kind.isUrgent && AlertStore.count(of: user, since: now - 3600, on: db) >= Self.alertsMaxPerHour
    try AlertStore.add(event.id, of: user, isSent: !isLimited, at: now, on: db)
    if isLimited {
      metrics.suppressed(.limit)
      return 0
    }
    let collapseID = try AlertStore.collapseID(
      of: rule.threadName(of: event), for: user, within: Self.collapseSeconds, at: now, on: db)
    for device in devices {
      let zone = device.timeZone.flatMap { TimeZone(identifier: $0) } ?? notification.timeZone ?? .gmt
      if !rule.kind.isUrgent, let until = preference.quietHours.end(after: now, in: zone) {
        try hold(event.id, for: device, of: notification, until: until, at: now, on: db)
        continue
      }
      let message = AlertMessage(
        device: device.id, user: user, event: event.name, body: notification.body, thread: rule.threadName(of: event),
        collapseID: collapseID, happenedAt: event.at, expiresAt: expiresAt, ids: event.pushedIDs,
        isUrgent: rule.kind.isUrgent)
      try outbox.add(
        AlertMessage.kind, message, deduplicationKey: "\(event.id) \(device.id)", user: user, at: now, on: db)
    }
    return devices.count
  }

  private func hold(
    _ event: EventID, for device: Device, of notification: Notification, until: Date, at now: Date,
    on db: any Connection
  ) throws {
    metrics.suppressed(.held)
    try AlertStore.hold(event, for: device.id, until: until, on: db)
    let message = HeldAlertsMessage(
      device: device.id, user: notification.user, until: until, locale: notification.locale)
    try outbox.add(
      HeldAlertsMessage.kind, message, deduplicationKey: "\(device.id) \(Int(until.timeIntervalSince1970))",
      user: notification.user, due: until, at: now, on: db)
  }
}

extension FeedEvent {
  /// The ids of the payload, which tell the app what to open.
  fileprivate var pushedIDs: [String: JSONValue] {
    guard case .object(let members) = payload else { return [:] }
    return members.filter { ($0.key == "id" || $0.key.hasSuffix("_id")) && $0.value != .null }
  }
}
