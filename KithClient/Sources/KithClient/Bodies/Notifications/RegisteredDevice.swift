import Foundation

/// A device that gets pushes.
public struct RegisteredDevice: Sendable, Equatable, Codable, Identifiable {
  public let id: String
  public let platform: String
  public let deviceToken: String
  public let createdAt: Date

  private enum CodingKeys: String, CodingKey {
    case id, platform
    case deviceToken = "device_token"
    case createdAt = "created_at"
  }

  public init(id: String, platform: String, deviceToken: String, createdAt: Date) {
    self.id = id
    self.platform = platform
    self.deviceToken = deviceToken
    self.createdAt = createdAt
  }
}

/// The user's devices.
package struct DevicesAnswer: Sendable, Codable {
  package let devices: [RegisteredDevice]

  package init(devices: [RegisteredDevice]) {
    self.devices = devices
  }
}
