import Foundation
import Wire

/// A device as its app tells of it: under `device`, or at the root.
struct NewNamedDeviceBody: Decodable {
  struct Named: Decodable {
    let apns_token: String?
    let bundle_id: String?
    let platform: String?
    let device_name: String?
    let os_version: String?
    let app_version: String?
  }

  private let named: Named
  /// What its fields' names begin with.
  private let prefix: String

  private enum CodingKeys: CodingKey { case device }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let nested = try container.decodeIfPresent(Named.self, forKey: .device)
    prefix = nested == nil ? "" : "device."
    named = try nested ?? Named(from: decoder)
  }

  /// - Throws: the validation failure that names the fields at fault.
  func device(at now: Date) throws -> Device {
    let (token, platform, bundleID, name, osVersion, appVersion) = try FieldErrors.collected(
      { try requiredToken() }, { try Device.platform(named.platform ?? "ios", field: "\(prefix)platform") },
      { try text(named.bundle_id, "bundle_id") }, { try text(named.device_name, "device_name") },
      { try text(named.os_version, "os_version") }, { try text(named.app_version, "app_version") })
    return Device(
      id: .new(at: now), token: token, platform: platform, bundleID: bundleID, name: name, osVersion: osVersion,
      appVersion: appVersion, createdAt: now, updatedAt: now)
  }

  private func requiredToken() throws(Failure) -> String {
    let field = "\(prefix)apns_token"
    guard let token = named.apns_token else { throw .invalid(.init(field, "is required")) }
    // Simulators have longer tokens than phones.
    return try Device.token(token, field: field, digits: 64...200)
  }

  private func text(_ text: String?, _ field: String) throws(Failure) -> String? {
    guard let text, !text.isEmpty else { return nil }
    return try Words.required(text, field: "\(prefix)\(field)", charactersMax: 255)
  }
}

/// Which token is not to be told any more, at the root or under it.
struct GoneDeviceBody: Decodable {
  struct Named: Decodable { let apns_token: String? }

  let apns_token: String?
  let device: Named?

  var token: String? { apns_token ?? device?.apns_token }
}

/// The answer to a registration: the integer by which its app knows the device, and the device.
struct RegisteredDeviceBody: Encodable {
  @OrNull var id: Int?
  let device: NamedDeviceBody

  init(_ device: Device) {
    _id = OrNull(wrappedValue: device.number)
    self.device = NamedDeviceBody(device)
  }
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
