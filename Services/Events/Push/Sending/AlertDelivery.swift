import Database
import Foundation
import Outbox
import Wire

/// Sends the alerts of the outbox. The id of a message is its `apns-id`, so that APNs drops what it is sent again.
struct AlertDelivery: Sendable {
  let database: any Database
  let sender: PushSender
  let texts: PushTexts
  let metrics: PushMetrics
  let now: @Sendable () -> Date

  var deliveries: [Delivery] {
    [
      Delivery(AlertMessage.kind, timeout: .seconds(40)) { message in
        try await send(try message.decode(AlertMessage.self), in: message)
      },
      Delivery(HeldAlertsMessage.kind, timeout: .seconds(40)) { message in
        try await send(try message.decode(HeldAlertsMessage.self), in: message)
      },
      Delivery(BackgroundPushMessage.kind, timeout: .seconds(40), giveUpAfter: .seconds(3600)) { message in
        try await send(try message.decode(BackgroundPushMessage.self), in: message)
      },
    ]
  }

  private func send(_ alert: AlertMessage, in message: OutboxMessage) async throws {
    guard alert.expiresAt > now() else { return metrics.suppressed(.expired) }
    guard let target = try await target(alert.device, of: alert.user), alert.isUrgent || !target.isSignedOut else {
      return metrics.suppressed(.deviceGone)
    }
    let payload = try Self.payload(
      alert.body, badge: target.badge, thread: alert.thread,
      own: alert.ids.merging(["event": .string(alert.event)]) { $1 })
    let isAccepted = try await sender.send(
      APNsNotification(
        id: message.id, deviceToken: target.token, type: .alert, expiresAt: alert.expiresAt,
        collapseID: alert.collapseID, payload: payload),
      to: target.environment, tries: message.tries)
    if isAccepted { metrics.accepted(after: now().timeIntervalSince(alert.happenedAt)) }
  }

  /// The quiet hours are over: says how many alerts there were in them.
  private func send(_ held: HeldAlertsMessage, in message: OutboxMessage) async throws {
    let target = try await target(held.device, of: held.user)
    let count = try await database.read { db in try AlertStore.heldCount(of: held.device, until: held.until, on: db) }
    guard let target, !target.isSignedOut, count > 0 else { return metrics.suppressed(.deviceGone) }
    let body = texts.text(count == 1 ? "held_one" : "held_many", locale: held.locale, count: count)
    _ = try await sender.send(
      APNsNotification(
        id: message.id, deviceToken: target.token, type: .alert, expiresAt: held.until + PushPlanner.lifetimeSeconds,
        collapseID: nil, payload: try Self.payload(body, badge: target.badge, thread: "held", own: [:])),
      to: target.environment, tries: message.tries)
    try await database.write { db in try AlertStore.deleteHeld(of: held.device, until: held.until, on: db) }
  }

  private func send(_ push: BackgroundPushMessage, in message: OutboxMessage) async throws {
    guard let target = try await target(push.device, of: push.user), !target.isSignedOut else {
      return metrics.suppressed(.deviceGone)
    }
    let payload: [String: JSONValue] = [
      "aps": .object(["content-available": .integer(1)]), "event": .string("lists_changed"),
    ]
    _ = try await sender.send(
      APNsNotification(
        id: message.id, deviceToken: target.token, type: .background,
        expiresAt: push.at + PushPlanner.lifetimeSeconds, collapseID: "lists_changed",
        payload: try JSON.encodeExact(JSONValue.object(payload))),
      to: target.environment, tries: message.tries)
  }

  private func target(_ device: DeviceID, of user: UserID) async throws -> AlertTarget? {
    try await database.read { db in try AlertStore.target(device, of: user, on: db) }
  }

  /// A payload that is too large loses first what is the app's own, and then the end of the text.
  static func payload(
    _ body: String, badge: Int, thread: String, own: [String: JSONValue]
  ) throws -> Data {
    func payload(_ body: String, _ own: [String: JSONValue]) throws -> Data {
      let aps: [String: JSONValue] = [
        "alert": .object(["body": .string(body)]), "badge": .integer(badge), "sound": .string("default"),
        "thread-id": .string(String(thread.prefix(Self.threadMax))),
      ]
      return try JSON.encodeExact(JSONValue.object(own.merging(["aps": .object(aps)]) { $1 }))
    }
    var (data, text) = (try payload(body, own), body)
    if data.count > APNsNotification.payloadBytesMax { data = try payload(text, ["event": own["event"] ?? .null]) }
    while data.count > APNsNotification.payloadBytesMax, !text.isEmpty {
      text = String(text.prefix(text.count / 2))
      data = try payload(text + "…", ["event": own["event"] ?? .null])
    }
    return data
  }

  private static let threadMax = 100
}
