import Foundation
import Wire

/// What a user is handed when they ask what this service knows of them. Not whom others have blocked: that is theirs.
struct PersonalData: Encodable, Sendable {
  struct Group: Encodable, Sendable {
    let id: GroupID
    let name: String
    let role: String
    let is_active: Bool
    let joined_at: Date
    let left_at: Date?
  }

  struct Photo: Encodable, Sendable {
    let id: String
    let group_id: GroupID
    let day: String
    let created_at: Date
    let expires_at: Date
  }

  struct Collection: Encodable, Sendable {
    let id: CollectionID
    let name: String
    let role: String
    let joined_at: Date
  }

  struct Block: Encodable, Sendable {
    let user_id: UserID
    let created_at: Date
  }

  struct Device: Encodable, Sendable {
    let token: String
    let platform: String
    let name: String?
    let os_version: String?
    let app_version: String?
    let created_at: Date
  }

  let groups: [Group]
  let photos: [Photo]
  let collections: [Collection]
  let blocks: [Block]
  let devices: [Device]
}

extension PersonalData.Device {
  init(_ device: Groups.Device) {
    token = device.token
    platform = device.platform.rawValue
    name = device.name
    os_version = device.osVersion
    app_version = device.appVersion
    created_at = device.createdAt
  }
}
