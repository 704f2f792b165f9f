import Foundation

/// Pushes: which devices get them, and of what.
public struct Notifications: Sendable {
  /// With which of Apple's servers a device's token works.
  public enum Environment: String, Sendable, Encodable {
    /// Of the App Store and TestFlight.
    case production
    /// Of an app that Xcode has installed.
    case sandbox
  }

  let api: API

  /// Registers this device, whoever had it before. To be called at each start. Safe to repeat.
  ///
  /// - Parameters:
  ///   - token: as `didRegisterForRemoteNotificationsWithDeviceToken` gives it.
  ///   - environment: nil: the server tries production first.
  ///   - timeZone: of quiet hours.
  public func registerDevice(
    token: Data, environment: Environment? = nil, timeZone: TimeZone = .current
  ) async throws {
    struct Body: Encodable {
      let deviceToken: String
      let platform = "ios"
      let environment: Environment?
      let timezone: String

      private enum CodingKeys: String, CodingKey {
        case platform, environment, timezone
        case deviceToken = "device_token"
      }
    }
    let body = Body(deviceToken: token.hex, environment: environment, timezone: timeZone.ianaName)
    _ = try await api.send(try .post("/api/devices/register", body))
  }

  /// To be called before signing out. Safe to repeat.
  public func unregisterDevice(token: Data) async throws {
    _ = try await api.send(.delete("/api/devices/unregister", ["device_token": token.hex]))
  }

  /// The user's devices, the last registered first.
  public func devices() async throws -> [RegisteredDevice] {
    try await api.value(.get("/api/devices"), as: DevicesAnswer.self).devices
  }

  /// What the user wants to be notified of.
  public func preference() async throws -> NotificationPreference {
    try await api.value(.get("/api/v1/notification_preference"), as: PreferenceAnswer.self).notificationPreference
  }

  /// What is left out stays as it is. Safe to repeat.
  ///
  /// - Parameter kinds: those that change, by their names in ``NotificationPreference/kinds``.
  /// - Throws: ``KithFailure``, such as `validation_error` for a kind that there is not.
  public func changePreference(
    pushEnabled: Bool? = nil, kinds: [String: Bool] = [:], quietHours: NotificationPreference.QuietHours? = nil
  ) async throws -> NotificationPreference {
    struct Body: Encodable {
      let pushEnabled: Bool?
      let kinds: [String: Bool]
      let quietHours: NotificationPreference.QuietHours?

      private enum CodingKeys: String, CodingKey {
        case kinds
        case pushEnabled = "push_enabled"
        case quietHours = "quiet_hours"
      }
    }
    let body = Body(pushEnabled: pushEnabled, kinds: kinds, quietHours: quietHours)
    return try await api.value(try .patch("/api/v1/notification_preference", body), as: PreferenceAnswer.self)
      .notificationPreference
  }

  /// No notifications of a group. Safe to repeat.
  ///
  /// - Throws: ``KithFailure``, such as `group_not_found`.
  public func mute(_ group: SharedGroup.ID) async throws {
    _ = try await api.send(try .put("/api/groups/\(group)/mute"))
  }

  /// Notifications of a group again. Safe to repeat.
  public func unmute(_ group: SharedGroup.ID) async throws {
    _ = try await api.send(.delete("/api/groups/\(group)/mute"))
  }

  /// To be called when the app comes to the foreground: its badge counts from zero again. Safe to repeat.
  public func appOpened() async throws { _ = try await api.send(try .post("/api/v1/analytics/app_opened")) }
}

extension Data {
  fileprivate var hex: String { map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}
