import Database
import EventFeed
import Foundation
import Outbox
import Wire

/// Notifies the members of a group, except the sender, of its first photo of the day, unless `PHOTO_EVENTS` is false.
/// The message is written to the outbox in the photo's transaction, and recorded as an event for those who may see the
/// photo when it is delivered.
struct FirstPhotoNotifications: Sendable {
  static let kind = "first_photo"

  let outbox: Outbox
  let isEnabled: Bool

  /// Writes the notification unless the group had one on this day. Call ``wakeUp()`` after the commit.
  func add(_ photo: Photo, on day: String, _ db: any Connection) throws {
    guard isEnabled else { return }
    try outbox.add(
      Self.kind, FirstPhotoMessage(photo_id: photo.id), deduplicationKey: "\(photo.group) \(day)", user: photo.sender,
      at: photo.createdAt, on: db)
  }

  func wakeUp() { if isEnabled { outbox.wakeUp() } }

  static func delivery(of database: any Database, now: @escaping @Sendable () -> Date) -> Delivery {
    Delivery(kind) { message in
      let photo = try message.decode(FirstPhotoMessage.self).photo_id
      let now = now()
      try await database.write { db in try record(photo, id: EventID(message.id), at: now, on: db) }
    }
  }

  /// - Parameter id: the same in every try, as an event with an id is stored once.
  private static func record(_ photo: PhotoID, id: EventID?, at now: Date, on db: any Connection) throws {
    let users = try recipients(of: photo, at: now, on: db)
    let row = try db.row(
      """
      select photo.group_id, photo.sender_id, photo.expires_at, social_group.name
      from photo join social_group on social_group.id = photo.group_id where photo.id = \(photo)
      """)
    guard let row, !users.isEmpty else { return }
    let (group, sender): (GroupID, UserID) = (try row.get("group_id"), try row.get("sender_id"))
    let push = PushDetails(
      recipients: users, actor: sender, subject: try row.get("name"), expiresAt: try row.get("expires_at"))
    // On the group's topic, so without the photo, which not every member may see.
    EventFeed.record(
      "first_photo_sent", to: [EventTopic.group(group)], ["group_id": group], push: push, of: sender, at: now, id: id,
      on: db)
  }

  /// The members who may see the photo at this time, without its sender; none once it has ended.
  static func recipients(of photo: PhotoID, at now: Date, on db: any Connection) throws -> [UserID] {
    try db.rows(
      """
      select viewer.user_id from photo join membership viewer on viewer.group_id = photo.group_id
      where photo.id = \(photo) and photo.expires_at > \(now) and viewer.user_id <> photo.sender_id
        and \(PhotoStore.isVisible)
      order by viewer.user_id
      """
    ).map { try $0.get("user_id") }
  }
}

/// The content of the outbox message.
private struct FirstPhotoMessage: Codable {
  let photo_id: PhotoID
}
