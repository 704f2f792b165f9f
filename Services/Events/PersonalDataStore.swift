import ClientBodies
import Database
import Foundation
import Web
import Wire

/// Exports and erases what the log has of a user, the topics that are the user's own, and devices and notifications.
/// What happened in shared topics leaves the log within a day.
struct EventsPersonalDataStore: PersonalDataStoring {
  let database: any Database
  let pushes: PushModule

  struct Export: Encodable, Sendable {
    struct Event: Encodable, Sendable {
      let topic: String
      let seq: Int
      let name: String
      let payload: Wire.JSONValue
      let at: Date
    }

    struct ExportedDevice: Encodable, Sendable {
      let token: String
      let platform: String
      let name: String?
      let os_version: String?
      let app_version: String?
      let timezone: String?
      let created_at: Date

      init(_ device: Device) {
        token = device.token
        platform = device.platform.rawValue
        name = device.name
        os_version = device.osVersion
        app_version = device.appVersion
        timezone = device.timeZone
        created_at = device.createdAt
      }
    }

    struct MutedGroup: Encodable, Sendable {
      let group_id: GroupID
      let muted_at: Date
    }

    let events: [Event]
    let devices: [ExportedDevice]
    let notification_preference: ClientBodies.NotificationPreference
    let muted_groups: [MutedGroup]
    let unread_notifications: Int
    /// Sockets and event streams.
    let open_connections: Int
    let open_topics: [String]
  }

  func export(of user: UserID) async throws -> Export {
    try await database.read { db in
      let rows = try db.rows(
        """
        select topic_event.topic, topic_event.seq, event.name, event.payload, event.happened_at
        from topic_event join event on event.position = topic_event.position
        where topic_event.topic in (\(list: TopicName.own(user)))
        order by topic_event.topic, topic_event.seq limit 10000
        """)
      return Export(
        events: try rows.map { row in
          Export.Event(
            topic: try row.get("topic"), seq: try row.get("seq"), name: try row.get("name"),
            payload: try JSON.decode(Wire.JSONValue.self, from: Data(try row.get("payload", as: String.self).utf8)),
            at: try row.get("happened_at"))
        },
        devices: try DeviceStore.devices(of: user, on: db).map(Export.ExportedDevice.init),
        notification_preference: ClientBodies.NotificationPreference(
          try PreferenceStore.preference(of: user, on: db)),
        muted_groups: try db.rows(
          "select group_id, muted_at from muted_group where user_id = \(user) order by group_id"
        ).map { Export.MutedGroup(group_id: try $0.get("group_id"), muted_at: try $0.get("muted_at")) },
        unread_notifications: try db.row(
          "select notifications from unread_count where user_id = \(user)"
        )?.get("notifications") ?? 0,
        open_connections: try db.row(
          "select count(*) as open from open_connection where user_id = \(user)"
        )?.get("open") ?? 0,
        open_topics: try db.rows(
          "select distinct topic from open_topic where user_id = \(user) order by topic"
        ).map { try $0.get("topic") })
    }
  }

  /// Clears the events and keeps their numbers, so that the positions and the topics have no holes.
  func erase(_ user: UserID, at now: Date) async throws {
    try await database.write { [pushes] db in
      try pushes.erase(user, on: db)
      try Idempotency.erase(user, on: db)
      for table: SQL in [
        "device", "notification_preference", "muted_group", "unread_count", "alert", "alert_thread", "open_connection",
        "open_topic",
      ] {
        try db.change("delete from \(table) where user_id = \(user)")
      }
      try db.change(
        """
        update event set payload = '{}', change = null where position in (
          select position from topic_event where topic in (\(list: TopicName.own(user))))
        """)
    }
  }
}
