import Foundation

/// A device on which the user is signed in.
public struct DeviceSession: Sendable, Equatable, Codable, Identifiable {
  public let id: String
  /// Whether it is this device.
  public let current: Bool
  @NullCodable public private(set) var device: String?
  public let createdAt: Date
  public let lastSeenAt: Date?
  @NullCodable public private(set) var endedAt: Date?
  @NullCodable public private(set) var endReason: String?

  private enum CodingKeys: String, CodingKey {
    case id, current, device
    case createdAt = "created_at"
    case lastSeenAt = "last_seen_at"
    case endedAt = "ended_at"
    case endReason = "end_reason"
  }

  public init(
    id: String, current: Bool, device: String?, createdAt: Date, lastSeenAt: Date?, endedAt: Date?, endReason: String?
  ) {
    self.id = id
    self.current = current
    self.device = device
    self.createdAt = createdAt
    self.lastSeenAt = lastSeenAt
    self.endedAt = endedAt
    self.endReason = endReason
  }
}

/// Where the user is signed in.
package struct SessionsAnswer: Sendable, Codable {
  package let sessions: [DeviceSession]

  package init(sessions: [DeviceSession]) {
    self.sessions = sessions
  }
}
