import Foundation
import Wire

/// An alert for one device, as it waits in the outbox.
struct AlertMessage: Codable, Sendable {
  static let kind = "alert"

  let device: DeviceID
  let user: UserID
  let event: String
  let body: String
  let thread: String
  let collapseID: String
  let happenedAt: Date
  let expiresAt: Date
  /// The ids of what it is about, for the app.
  let ids: [String: JSONValue]
  /// Whether it goes to a device whose session was ended.
  let isUrgent: Bool
}

/// The alerts that were held during the quiet hours of a device, to be summed up in one.
struct HeldAlertsMessage: Codable, Sendable {
  static let kind = "held_alerts"

  let device: DeviceID
  let user: UserID
  let until: Date
  let locale: String?
}

/// An event of which users are to be notified, as it waits in the inbox.
struct NotifiedEventMessage: Codable, Sendable {
  static let kind = "notified_event"

  let event: FeedEvent
}

/// A list that somebody has changed within a minute, as it waits in the inbox for the minute's end.
struct ListChangedMessage: Codable, Sendable, Hashable {
  static let kind = "list_changed"

  let topic: String
  let actor: UserID?
}

/// A silent notification for one device, as it waits in the outbox.
struct BackgroundPushMessage: Codable, Sendable {
  static let kind = "background_push"

  let device: DeviceID
  let user: UserID
  /// When it is sent at the earliest.
  let at: Date
}
