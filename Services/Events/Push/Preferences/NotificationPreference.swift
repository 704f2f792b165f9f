import ClientBodies
import Foundation
import Wire

/// What a user wants to be notified of, and when.
struct NotificationPreference: Sendable, Hashable {
  var isPushEnabled = true
  /// What the user has switched off.
  var disabledKinds: Set<NotificationKind> = []
  var quietHours = QuietHours()

  func allows(_ kind: NotificationKind) -> Bool {
    isPushEnabled && (kind.isUrgent || !disabledKinds.contains(kind))
  }
}

extension ClientBodies.NotificationPreference {
  init(_ preference: NotificationPreference) {
    let hours = preference.quietHours
    let kinds = NotificationKind.allCases.filter { !$0.isUrgent }.map {
      ($0.rawValue, !preference.disabledKinds.contains($0))
    }
    self.init(
      pushEnabled: preference.isPushEnabled, kinds: Dictionary(uniqueKeysWithValues: kinds),
      quietHours: QuietHours(
        enabled: hours.isEnabled, start: Events.QuietHours.text(hours.start), end: Events.QuietHours.text(hours.end)))
  }
}

/// A change of a preference, under the key `notification_preference` or at the root. What is left out stays.
struct NotificationPreferenceChange: Decodable, Sendable {
  struct Quiet: Decodable, Sendable {
    let enabled: Bool?
    let start: String?
    let end: String?
  }

  struct Fields: Decodable, Sendable {
    let push_enabled: Bool?
    let kinds: [String: Bool]?
    let quiet_hours: Quiet?
  }

  private let fields: Fields

  private enum CodingKeys: CodingKey { case notification_preference }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let nested = try container.decodeIfPresent(Fields.self, forKey: .notification_preference)
    fields = try nested ?? Fields(from: decoder)
  }

  /// - Throws: the validation failure that names every invalid field.
  func apply(to preference: NotificationPreference) throws -> NotificationPreference {
    var preference = preference
    if let isEnabled = fields.push_enabled { preference.isPushEnabled = isEnabled }
    for (name, isOn) in (fields.kinds ?? [:]).sorted(by: { $0.key < $1.key }) {
      guard let kind = NotificationKind(rawValue: name), !kind.isUrgent else {
        throw Failure.invalid(.init("kinds.\(name)", "is no kind of notification that can be switched"))
      }
      if isOn { preference.disabledKinds.remove(kind) } else { preference.disabledKinds.insert(kind) }
    }
    guard let quiet = fields.quiet_hours else { return preference }
    if let isEnabled = quiet.enabled { preference.quietHours.isEnabled = isEnabled }
    let (start, end) = try FieldErrors.collected(
      { try quiet.start.map { try QuietHours.minutes($0, field: "quiet_hours.start") } },
      { try quiet.end.map { try QuietHours.minutes($0, field: "quiet_hours.end") } })
    if let start { preference.quietHours.start = start }
    if let end { preference.quietHours.end = end }
    return preference
  }
}
