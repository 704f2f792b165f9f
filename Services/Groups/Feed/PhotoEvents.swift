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
