import Database
import Foundation
import Wire

/// The SQL statements on devices. A token belongs to the user who registered it last, since phones change hands.
struct DeviceStore: Sendable {
  let database: any Database

  /// The user's devices, the most recently registered first.
  func devices(of user: UserID) async throws -> [Device] {
    try await database.read { db in try Self.devices(of: user, on: db) }
  }

  static func devices(of user: UserID, on db: any Connection) throws -> [Device] {
    try db.rows("\(selectDevice) where user_id = \(user) order by updated_at desc, id desc").map(Device.init)
  }

  /// Registers a device, or updates the one with the same token. Safe to repeat. Fields that a later registration
  /// leaves out keep their values, unless the device belonged to another user.
  ///
  /// - Parameter session: with whose end the device is deleted.
  static func register(
    _ device: Device, of user: UserID, in session: SessionID?, on db: any Connection
  ) throws -> Device {
    try db.change("delete from device where token = \(device.token) and user_id <> \(user)")
    let row = try db.row(
      """
      insert into device (id, user_id, session_id, token, platform, environment, time_zone, bundle_id, name, os_version,
        app_version, created_at, updated_at)
      values (\(device.id), \(user), \(session), \(device.token), \(device.platform.rawValue),
        \(device.environment?.rawValue), \(device.timeZone), \(device.bundleID), \(device.name), \(device.osVersion),
        \(device.appVersion), \(device.createdAt), \(device.updatedAt))
      on conflict (token) do update set user_id = excluded.user_id, session_id = excluded.session_id,
        signed_out_at = null, platform = excluded.platform,
        environment = coalesce(excluded.environment, device.environment),
        time_zone = coalesce(excluded.time_zone, device.time_zone),
        bundle_id = coalesce(excluded.bundle_id, device.bundle_id), name = coalesce(excluded.name, device.name),
        os_version = coalesce(excluded.os_version, device.os_version),
        app_version = coalesce(excluded.app_version, device.app_version), updated_at = excluded.updated_at
      where device.user_id = excluded.user_id
      returning id
      """)
    guard let id: DeviceID = try row?.get("id") else { throw DatabaseFailure.contended }
    try db.change("insert into device_number (device_id) values (\(id)) on conflict (device_id) do nothing")
    try db.change(
      """
      delete from device where user_id = \(user) and id not in (
        select id from device where user_id = \(user) order by updated_at desc, id desc limit \(Device.countMaxPerUser))
      """)
    guard let row = try db.row("\(selectDevice) where id = \(id)") else { throw DatabaseFailure.contended }
    return try Device(row)
  }

  /// Stores devices that another service has registered earlier. One that was registered here since then stays as it
  /// is. Safe to repeat.
  func take(over devices: [TransferredDevice]) async throws {
    try await database.write { db in
      for device in devices {
        try db.change(
          """
          insert into device (id, user_id, token, platform, bundle_id, name, os_version, app_version, created_at,
            updated_at)
          values (\(device.id), \(device.user), \(device.token), \(device.platform), \(device.bundleID),
            \(device.name), \(device.osVersion), \(device.appVersion), \(device.createdAt), \(device.updatedAt))
          on conflict do nothing
          """)
        try db.change(
          """
          insert into device_number (device_id) select id from device where id = \(device.id)
          on conflict (device_id) do nothing
          """)
      }
    }
  }

  /// Deletes the devices of a session that has ended.
  ///
  /// - Parameter isKept: they stay for one more hour, for nothing but the notification of why the session was ended.
  static func sessionEnded(_ session: SessionID, isKept: Bool, at now: Date, on db: any Connection) throws {
    guard isKept else {
      try db.change("delete from device where session_id = \(session)")
      return
    }
    try db.change("update device set signed_out_at = \(now) where session_id = \(session) and signed_out_at is null")
  }

  /// The devices of a user to which alerts are pushed.
  ///
  /// - Parameter signedOutAfter: also devices whose sessions were ended after this time.
  static func pushed(of user: UserID, signedOutAfter: Date?, on db: any Connection) throws -> [Device] {
    try db.rows("\(selectDevice) where user_id = \(user) and platform = 'ios' order by id")
      .filter { row in
        guard let signedOutAt = try row.optional("signed_out_at", as: Date.self) else { return true }
        return signedOutAfter.map { signedOutAt > $0 } ?? false
      }.map(Device.init)
  }

  static func hasDevices(_ user: UserID, on db: any Connection) throws -> Bool {
    try db.row("select 1 as found from device where user_id = \(user) limit 1") != nil
  }

  static func setWoken(_ device: DeviceID, at time: Date, on db: any Connection) throws {
    try db.change("update device set woken_at = \(time) where id = \(device)")
  }

  /// Deletes a token that APNs does not accept any more, unless it was registered again after `invalidSince`.
  func delete(token: String, invalidSince: Date?) async throws {
    try await database.write { db in
      try db.change(
        "delete from device where token = \(token) and updated_at <= \(invalidSince ?? .distantFuture)")
    }
  }

  /// The environment has shown which one it is.
  func set(_ environment: APNsEnvironment, ofToken token: String) async throws {
    try await database.write { db in
      try db.change(
        "update device set environment = \(environment.rawValue) where token = \(token) and environment is null")
    }
  }

  /// Deletes the device; false when the user has no device with this token.
  @discardableResult
  func unregister(token: String, of user: UserID) async throws -> Bool {
    try await database.write { db in
      try db.change("delete from device where token = \(token) and user_id = \(user)") == 1
    }
  }

  /// Deletes the device; false when the user has no device with this id.
  func unregister(_ id: DeviceID, of user: UserID) async throws -> Bool {
    try await database.write { db in try db.change("delete from device where id = \(id) and user_id = \(user)") == 1 }
  }

  /// Deletes the device; false when the user has no device with this number.
  func unregister(number: Int, of user: UserID) async throws -> Bool {
    try await database.write { db in
      try db.change(
        """
        delete from device where user_id = \(user)
          and id = (select device_id from device_number where number = \(number))
        """) == 1
    }
  }
}

private let selectDevice: SQL = """
  select device.*, (select number from device_number named where named.device_id = device.id) as number from device
  """

extension Device {
  init(_ row: Row) throws {
    id = try row.get("id")
    number = try row.optional("number")
    token = try row.get("token")
    platform = try row.enumValue("platform")
    environment = try row.optional("environment", as: String.self).flatMap(APNsEnvironment.init)
    timeZone = try row.optional("time_zone")
    bundleID = try row.optional("bundle_id")
    name = try row.optional("name")
    osVersion = try row.optional("os_version")
    appVersion = try row.optional("app_version")
    wokenAt = try row.optional("woken_at")
    createdAt = try row.get("created_at")
    updatedAt = try row.get("updated_at")
  }
}
