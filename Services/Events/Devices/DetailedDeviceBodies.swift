import Foundation
import Wire

/// The request to register a device, whose fields are under the key `device` or at the root.
struct NewDetailedDeviceBody: Decodable {
  struct Fields: Decodable {
    let apns_token: String?
    let bundle_id: String?
    let platform: String?
    let device_name: String?
    let os_version: String?
    let app_version: String?
    let environment: String?
    let timezone: String?
  }

  private let fields: Fields
  /// The prefix of field names in validation errors.
  private let prefix: String

  private enum CodingKeys: CodingKey { case device }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let nested = try container.decodeIfPresent(Fields.self, forKey: .device)
    prefix = nested == nil ? "" : "device."
    fields = try nested ?? Fields(from: decoder)
  }

  /// - Throws: the validation failure that names every invalid field.
  func device(at now: Date) throws -> Device {
    let (token, platform, bundleID, name, osVersion, appVersion) = try FieldErrors.collected(
      { try requiredToken() }, { try Device.platform(fields.platform ?? "ios", field: "\(prefix)platform") },
      { try text(fields.bundle_id, "bundle_id") }, { try text(fields.device_name, "device_name") },
      { try text(fields.os_version, "os_version") }, { try text(fields.app_version, "app_version") })
    let (environment, timeZone) = try FieldErrors.collected(
      { try Device.environment(fields.environment, field: "\(prefix)environment") },
      { try Device.timeZone(fields.timezone, field: "\(prefix)timezone") })
    return Device(
      id: .new(at: now), token: token, platform: platform, environment: environment, timeZone: timeZone,
      bundleID: bundleID, name: name, osVersion: osVersion, appVersion: appVersion, createdAt: now, updatedAt: now)
  }

  private func requiredToken() throws(Failure) -> String {
    let field = "\(prefix)apns_token"
    guard let token = fields.apns_token else { throw .invalid(.init(field, "is required")) }
    // Simulators have longer tokens than devices.
    return try Device.token(token, field: field, digits: 64...200)
  }

  private func text(_ text: String?, _ field: String) throws(Failure) -> String? {
    guard let text, !text.isEmpty else { return nil }
    let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
    guard (1...255).contains(trimmed.count), trimmed.utf8.count <= 255 * 16 else {
      throw .invalid(.init("\(prefix)\(field)", "must have 1 to 255 characters"))
    }
    return trimmed
  }
}

/// The request to unregister a device by its token, at the root or under the key `device`.
struct UnregisterDeviceBody: Decodable {
  struct Fields: Decodable { let apns_token: String? }

  let apns_token: String?
  let device: Fields?

  var token: String? { apns_token ?? device?.apns_token }
}

/// The response to a registration: the integer id of the device, and the device.
struct RegisteredDeviceBody: Encodable {
  @NullCodable var id: Int?
  let device: DetailedDeviceBody

  init(_ device: Device) {
    _id = NullCodable(wrappedValue: device.number)
    self.device = DetailedDeviceBody(device)
  }
}

/// A device in the response to its registration.
struct DetailedDeviceBody: Encodable {
  let id: DeviceID
  let platform: Device.Platform
  let environment: APNsEnvironment
  @NullCodable var timezone: String?
  @NullCodable var bundle_id: String?
  @NullCodable var device_name: String?
  @NullCodable var os_version: String?
  @NullCodable var app_version: String?
  let created_at: Date
  let updated_at: Date

  init(_ device: Device) {
    id = device.id
    platform = device.platform
    environment = device.environment ?? .production
    _timezone = NullCodable(wrappedValue: device.timeZone)
    _bundle_id = NullCodable(wrappedValue: device.bundleID)
    _device_name = NullCodable(wrappedValue: device.name)
    _os_version = NullCodable(wrappedValue: device.osVersion)
    _app_version = NullCodable(wrappedValue: device.appVersion)
    created_at = device.createdAt
    updated_at = device.updatedAt
  }
}
