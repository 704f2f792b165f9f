import Database
import Foundation
import Logging
import Outbox
import Wire

/// Notifies the members of a group, except the sender, of its first photo of the day, if `PHOTO_EVENTS` is set. The
/// message is written to the outbox in the photo's transaction. Pushes are not sent yet; the number of recipients is
/// logged.
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

  static func delivery(
    of database: any Database, logger: Logger, now: @escaping @Sendable () -> Date
  ) -> Delivery {
    Delivery(kind) { message in
      let photo = try message.decode(FirstPhotoMessage.self).photo_id
      let users = try await database.read { try recipients(of: photo, at: now(), on: $0) }
      logger.info("first photo of the day", metadata: ["photo": "\(photo)", "recipients": "\(users.count)"])
    }
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
