import Database
import Foundation
import Wire

/// The SQL statements on preferences for notifications, muted groups, and the number of unread notifications.
struct PreferenceStore: Sendable {
  let database: any Database

  func preference(of user: UserID) async throws -> NotificationPreference {
    try await database.read { db in try Self.preference(of: user, on: db) }
  }

  static func preference(of user: UserID, on db: any Connection) throws -> NotificationPreference {
    let row = try db.row(
      """
      select push_enabled, disabled_kinds, quiet_enabled, quiet_start, quiet_end from notification_preference
      where user_id = \(user)
      """)
    guard let row else { return NotificationPreference() }
    let kinds = try row.get("disabled_kinds", as: String.self).split(separator: ",")
    return NotificationPreference(
      isPushEnabled: try row.get("push_enabled"),
      disabledKinds: Set(kinds.compactMap { NotificationKind(rawValue: String($0)) }),
      quietHours: QuietHours(
        isEnabled: try row.get("quiet_enabled"), start: try row.get("quiet_start"), end: try row.get("quiet_end")))
  }

  /// - Returns: the preference with the change.
  func change(_ change: NotificationPreferenceChange, of user: UserID, at now: Date) async throws
    -> NotificationPreference
  {
    try await database.write { db in
      // Locks the row, so that two changes at once are both kept.
      try db.change(
        """
        insert into notification_preference (user_id, push_enabled, disabled_kinds, quiet_enabled, quiet_start,
          quiet_end, updated_at)
        values (\(user), \(true), '', \(false), \(QuietHours().start), \(QuietHours().end), \(now))
        on conflict (user_id) do update set updated_at = excluded.updated_at
        """)
      let preference = try change.apply(to: Self.preference(of: user, on: db))
      try db.change(
        """
        update notification_preference set push_enabled = \(preference.isPushEnabled),
          disabled_kinds = \(preference.disabledKinds.map(\.rawValue).sorted().joined(separator: ",")),
          quiet_enabled = \(preference.quietHours.isEnabled), quiet_start = \(preference.quietHours.start),
          quiet_end = \(preference.quietHours.end)
        where user_id = \(user)
        """)
      return preference
    }
  }

  /// Safe to repeat.
  func mute(_ group: GroupID, for user: UserID, at now: Date) async throws {
    try await database.write { db in
      try db.change(
        """
        insert into muted_group (user_id, group_id, muted_at) values (\(user), \(group), \(now))
        on conflict (user_id, group_id) do nothing
        """)
    }
  }

  /// Safe to repeat.
  func unmute(_ group: GroupID, for user: UserID) async throws {
    try await database.write { db in
      try db.change("delete from muted_group where user_id = \(user) and group_id = \(group)")
    }
  }

  static func isMuted(_ group: GroupID, for user: UserID, on db: any Connection) throws -> Bool {
    try db.row("select 1 as found from muted_group where user_id = \(user) and group_id = \(group)") != nil
  }

  /// The app is open: the user has seen what there is, also what is held until the end of the quiet hours.
  func clearUnread(of user: UserID) async throws {
    try await database.write { db in
      try db.change("update unread_count set notifications = 0 where user_id = \(user) and notifications > 0")
      try db.change("delete from held_alert where device_id in (select id from device where user_id = \(user))")
    }
  }
}
