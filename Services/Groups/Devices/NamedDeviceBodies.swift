import Foundation
import Wire

/// A device as its app tells of it.
struct NewNamedDeviceBody: Decodable {
  struct Named: Decodable {
    let apns_token: String
    let bundle_id: String?
    let platform: String?
    let device_name: String?
    let os_version: String?
    let app_version: String?
  }

  let device: Named
}

extension NewNamedDeviceBody.Named {
  /// - Throws: the validation failure that names the field at fault.
  func device(at now: Date) throws -> Device {
    Device(
      // Simulators have longer tokens than phones.
      id: .new(at: now), token: try Device.token(apns_token, field: "device.apns_token", digits: 64...200),
      platform: try Device.platform(platform ?? "ios", field: "device.platform"),
      bundleID: try Self.text(bundle_id, "bundle_id"), name: try Self.text(device_name, "device_name"),
      osVersion: try Self.text(os_version, "os_version"), appVersion: try Self.text(app_version, "app_version"),
      createdAt: now, updatedAt: now)
  }

  private static func text(_ text: String?, _ field: String) throws(Failure) -> String? {
    guard let text, !text.isEmpty else { return nil }
    return try Words.required(text, field: "device.\(field)", charactersMax: 255)
  }
}

/// Which token is not to be told any more, at the root or under it.
struct GoneDeviceBody: Decodable {
  struct Named: Decodable { let apns_token: String? }

  let apns_token: String?
  let device: Named?

  var token: String? { apns_token ?? device?.apns_token }
}

/// A device as its app reads it.
struct NamedDeviceBody: Encodable {
  let id: DeviceID
  let platform: Device.Platform
  @OrNull var bundle_id: String?
  @OrNull var device_name: String?
  @OrNull var os_version: String?
  @OrNull var app_version: String?
  let created_at: Date
  let updated_at: Date

  init(_ device: Device) {
    id = device.id
    platform = device.platform
    _bundle_id = OrNull(wrappedValue: device.bundleID)
    _device_name = OrNull(wrappedValue: device.name)
    _os_version = OrNull(wrappedValue: device.osVersion)
    _app_version = OrNull(wrappedValue: device.appVersion)
    created_at = device.createdAt
    updated_at = device.updatedAt
  }
}
