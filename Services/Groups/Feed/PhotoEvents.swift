import Database
import EventFeed
import Foundation
import Photos
import Wire

/// The events of photos, on the topic of their group. Each is recorded in the transaction of the change.
///
/// All members read the topic, but a block hides the photos of two members from each other, and so the events of these.
enum PhotoEvents {
  static func sent(_ photo: Photo, _ dimensions: PhotoDimensions, on db: any Connection) throws {
    let record: EventFields = [
      "group_id": photo.group, "sender_id": photo.sender, "width": dimensions.width, "height": dimensions.height,
      "created_at": photo.createdAt, "expires_at": photo.expiresAt,
    ]
    try self.record(
      "photo_sent", photo.id, in: photo.group, of: photo.sender, .of("photos", .insert, key: ["id": photo.id], record),
      at: photo.createdAt, on: db)
  }

  /// The sender has deleted it before it expired.
  static func deleted(
    _ photo: PhotoID, in group: GroupID, of sender: UserID, at now: Date, on db: any Connection
  ) throws {
    try record(
      "photo_deleted", photo, in: group, of: sender, .of("photos", .delete, key: ["id": photo]), at: now, on: db)
  }

  /// Photos are gone: they have expired, their files are lost, or the account of their sender is erased.
  static func ended(_ photos: [EndedPhoto], at now: Date, on db: any Connection) throws {
    guard EventFeed.isRecording(on: db), !photos.isEmpty else { return }
    let origins = Array(Set(photos.map(\.origin)))
    let blocked = try db.rows(of: origins.map { BlockStore.membersQuery(of: $0.group, blockedWith: $0.sender) })
    var hiddenFrom: [EndedPhoto.Origin: Set<UserID>] = [:]
    for (origin, rows) in zip(origins, blocked) {
      hiddenFrom[origin] = Set(try rows.map { try $0.get("user_id", as: UserID.self) })
    }
    let told = Dictionary(grouping: photos) { photo in
      Audience(group: photo.origin.group, hiddenFrom: hiddenFrom[photo.origin] ?? [])
    }
    for (audience, photos) in told {
      EventFeed.record(
        "photos_deleted", to: [EventTopic.group(audience.group)],
        ["group_id": audience.group, "photo_ids": photos.map(\.id)],
        change: photos.first?.deletion, changes: photos.dropFirst().map(\.deletion), hiddenFrom: audience.hiddenFrom,
        of: nil, at: now, on: db)
    }
  }

  private struct Audience: Hashable {
    let group: GroupID
    let hiddenFrom: Set<UserID>
  }

  private static func record(
    _ name: String, _ photo: PhotoID, in group: GroupID, of sender: UserID, _ change: EventChange, at now: Date,
    on db: any Connection
  ) throws {
    guard EventFeed.isRecording(on: db) else { return }
    EventFeed.record(
      name, to: [EventTopic.group(group)], ["photo_id": photo, "group_id": group, "sender_id": sender],
      change: change, hiddenFrom: try BlockStore.members(of: group, blockedWith: sender, on: db), of: sender, at: now,
      on: db)
  }
}

/// A photo that its sender has not deleted.
struct EndedPhoto: Sendable {
  struct Origin: Hashable {
    let group: GroupID
    let sender: UserID
  }

  let id: PhotoID
  let origin: Origin

  init(_ row: Row) throws {
    id = try row.get("id")
    origin = Origin(group: try row.get("group_id"), sender: try row.get("sender_id"))
  }

  fileprivate var deletion: EventChange { .of("photos", .delete, key: ["id": id]) }
}
