import Database
import Foundation
import Logging
import Outbox
import Wire

/// The news that a group has its first photo of the day, for everybody in it but the sender: written with the photo
/// itself, where `PHOTO_EVENTS` asks for it. Nothing sends pushes yet; the log says to how many it would go.
struct FirstPhotos: Sendable {
  static let kind = "first_photo"

  let outbox: Outbox
  let areWanted: Bool

  /// Call ``ring()`` once the transaction has committed.
  func add(_ photo: Photo, on day: String, _ db: any Connection) throws {
    guard areWanted else { return }
    try outbox.add(
      Self.kind, FirstPhoto(photo_id: photo.id), once: "\(photo.group) \(day)", user: photo.sender,
      at: photo.createdAt, on: db)
  }

  func ring() { if areWanted { outbox.ring() } }

  static func delivery(
    of database: any Database, logger: Logger, now: @escaping @Sendable () -> Date
  ) -> Delivery {
    Delivery(kind) { post in
      let photo: FirstPhoto = try post.decode()
      let people = try await database.read { try recipients(of: photo.photo_id, at: now(), on: $0) }
      logger.info(
        "first photo of the day", metadata: ["photo": "\(photo.photo_id)", "recipients": "\(people.count)"])
    }
  }

  /// Who may see the photo at this time, its sender left out: nobody once it has ended.
  static func recipients(of photo: PhotoID, at now: Date, on db: any Connection) throws -> [UserID] {
    try db.rows(
      """
      select viewer.user_id from photo join membership viewer on viewer.group_id = photo.group_id
      where photo.id = \(photo) and photo.expires_at > \(now) and viewer.user_id <> photo.sender_id
        and \(PhotoStore.isSeen)
      order by viewer.user_id
      """
    ).map { try $0.get("user_id") }
  }
}

private struct FirstPhoto: Codable {
  let photo_id: PhotoID
}
