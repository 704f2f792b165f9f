/// What the user wants to be notified of, and when.
public struct NotificationPreference: Sendable, Equatable, Codable {
  /// When there are no alerts; they are summed up in one at the end. In the device's time zone.
  public struct QuietHours: Sendable, Equatable, Codable {
    public var enabled: Bool
    /// Such as `22:00`.
    public var start: String
    public var end: String

    /// - Parameters:
    ///   - start: such as `22:00`.
    ///   - end: such as `07:00`; also on the next day.
    public init(enabled: Bool, start: String, end: String) {
      self.enabled = enabled
      self.start = start
      self.end = end
    }
  }

  public let pushEnabled: Bool
  /// By name, such as `new_photos`, `task_assigned`, `due_soon` or `timepoint_ready`.
  public let kinds: [String: Bool]
  public let quietHours: QuietHours

  private enum CodingKeys: String, CodingKey {
    case kinds
    case pushEnabled = "push_enabled"
    case quietHours = "quiet_hours"
  }

  public init(pushEnabled: Bool, kinds: [String: Bool], quietHours: QuietHours) {
    self.pushEnabled = pushEnabled
    self.kinds = kinds
    self.quietHours = quietHours
  }
}

/// What the user wants to be notified of.
package struct PreferenceAnswer: Sendable, Codable {
  package let notificationPreference: NotificationPreference

  private enum CodingKeys: String, CodingKey {
    case notificationPreference = "notification_preference"
  }

  package init(notificationPreference: NotificationPreference) {
    self.notificationPreference = notificationPreference
  }
}
