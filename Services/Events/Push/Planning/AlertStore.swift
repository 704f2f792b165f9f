import Database
import Foundation
import Wire

/// The SQL statements on the alerts of users: of which events they were notified, how many they have not seen, which
/// of them replace each other, and which wait for the end of the quiet hours.
enum AlertStore {
  /// Locks the user's row, which is created if necessary, until the transaction ends.
  static func lock(_ user: UserID, on db: any Connection) throws {
    try db.change(
      """
      insert into unread_count (user_id, notifications) values (\(user), 0)
      on conflict (user_id) do update set notifications = unread_count.notifications
      """)
  }

  static func wasNotified(_ user: UserID, of event: EventID, on db: any Connection) throws -> Bool {
    try db.row("select 1 as found from alert where event_id = \(event) and user_id = \(user)") != nil
  }

  /// How many alerts the user was sent since then, of which as many are counted as may be sent in an hour.
  static func count(of user: UserID, since: Date, on db: any Connection) throws -> Int {
    let row = try db.row(
      """
      select count(*) as found from (
        select 1 as one from alert where user_id = \(user) and created_at > \(since) and is_sent
        limit \(PushPlanner.alertsMaxPerHour)) as sent
      """)
    return try row?.get("found") ?? 0
  }

  /// Adds an alert, which is unread also where it is not sent.
  static func add(_ event: EventID, of user: UserID, isSent: Bool, at now: Date, on db: any Connection) throws {
    try db.change(
      """
      insert into alert (event_id, user_id, is_sent, created_at) values (\(event), \(user), \(isSent), \(now))
      """)
    try db.change("update unread_count set notifications = notifications + 1 where user_id = \(user)")
  }

  /// The collapse id of a thread: the same for what belongs to it within a minute.
  static func collapseID(
    of thread: String, for user: UserID, within seconds: Double, at now: Date, on db: any Connection
  ) throws -> String {
    let row = try db.row(
      """
      insert into alert_thread (user_id, name, collapse_id, started_at)
      values (\(user), \(thread), \(UUID().uuidString.lowercased()), \(now))
      on conflict (user_id, name) do update set
        collapse_id = case when alert_thread.started_at > \(now - seconds) then alert_thread.collapse_id
          else excluded.collapse_id end,
        started_at = case when alert_thread.started_at > \(now - seconds) then alert_thread.started_at
          else excluded.started_at end
      returning collapse_id
      """)
    guard let row else { throw DatabaseFailure.contended }
    return try row.get("collapse_id")
  }

  static func hold(_ event: EventID, for device: DeviceID, until: Date, on db: any Connection) throws {
    try db.change(
      """
      insert into held_alert (device_id, until, event_id) values (\(device), \(until), \(event)) on conflict do nothing
      """)
  }

  static func heldCount(of device: DeviceID, until: Date, on db: any Connection) throws -> Int {
    try db.row(
      "select count(*) as held from held_alert where device_id = \(device) and until = \(until)"
    )?.get("held") ?? 0
  }

  static func deleteHeld(of device: DeviceID, until: Date, on db: any Connection) throws {
    try db.change("delete from held_alert where device_id = \(device) and until = \(until)")
  }

  /// Where an alert goes now; nil when the device is gone, or is another user's.
  static func target(_ device: DeviceID, of user: UserID, on db: any Connection) throws -> AlertTarget? {
    try db.row(
      """
      select device.token, device.environment, device.signed_out_at, unread_count.notifications as unread
      from device left join unread_count on unread_count.user_id = device.user_id
      where device.id = \(device) and device.user_id = \(user)
      """
    ).map { row in
      AlertTarget(
        token: try row.get("token"),
        environment: try row.optional("environment", as: String.self).flatMap(APNsEnvironment.init),
        isSignedOut: try row.optional("signed_out_at", as: Date.self) != nil,
        badge: try row.optional("unread") ?? 0)
    }
  }

  /// Deletes what is no longer needed, at most `limit` rows of each kind.
  ///
  /// - Returns: the highest number of rows that were deleted of one kind.
  static func sweep(at now: Date, limit: Int, on db: any Connection) throws -> Int {
    let devices = try db.change(
      """
      delete from device where id in (
        select id from device where signed_out_at < \(now - 3600) order by signed_out_at limit \(limit))
      """)
    let alerts = try db.change(
      """
      delete from alert where (event_id, user_id) in (
        select event_id, user_id from alert where created_at < \(now - 2 * 86_400) order by created_at limit \(limit))
      """)
    let threads = try db.change(
      """
      delete from alert_thread where (user_id, name) in (
        select user_id, name from alert_thread where started_at < \(now - 3600) order by started_at limit \(limit))
      """)
    let held = try db.change(
      """
      delete from held_alert where (device_id, until, event_id) in (
        select device_id, until, event_id from held_alert where until < \(now - 2 * 86_400) order by until
        limit \(limit))
      """)
    return max(devices, alerts, threads, held)
  }
}

/// A device to which an alert is sent.
struct AlertTarget: Sendable {
  let token: String
  let environment: APNsEnvironment?
  let isSignedOut: Bool
  /// How many notifications the user has not seen.
  let badge: Int
}
