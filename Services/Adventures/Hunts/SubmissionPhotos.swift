import Clients
import Database
import Foundation
import Outbox
import RestQueries
import Wire

/// The files of `/storage/v1` that submissions name as their photos. Only a file of the submitter counts: it is shown
/// to those who see the submission, and deleted when no submission names it any more.
enum SubmissionPhotos {
  static let migration = Migration(
    "photos of submissions",
    """
    alter table checkpoint_submission add column photo_name text;
    create index checkpoint_submission_photo on checkpoint_submission (photo_name) where photo_name is not null;
    """)

  private static let kind = "submission_photos"

  /// Notes the file that a submission names, after it has been inserted. A row that was there already is left alone.
  static func store(namedBy row: [String: JSONTree], of submitter: UserID, on db: any Connection) throws {
    guard let url = row["photo_url"]?.string, let photo = StoredObjectName(url: url), photo.bucket == .photos,
      photo.owner == submitter, let checkpoint = row["checkpoint_id"]?.string.flatMap({ ID<Hunt>($0) })
    else { return }
    try db.change(
      """
      update checkpoint_submission set photo_name = \(photo.description)
      where checkpoint_id = \(checkpoint) and user_id = \(submitter) and photo_url = \(url)
      """)
  }

  /// Whether the viewer sees a submission that names the photo.
  static func isShown(_ photo: StoredObjectName, to viewer: RestQueries.Caller, on db: any Connection) throws -> Bool {
    try db.row(
      """
      select s.id from checkpoint_submission s
      where s.photo_name = \(photo.description)
        and \(AdventureTables.isSubmissionVisible("s.checkpoint_id", of: "s.user_id", viewer)) limit 1
      """) != nil
  }

  /// Deletes the submissions with photos in all hunts of a creator, and enqueues the deletion of the photos. The hunts
  /// stay locked until the transaction ends, in which the caller deletes them.
  static func delete(inHuntsOf creator: UserID, _ outbox: Outbox, at now: Date, on db: any Connection) throws {
    let hunts = try db.rows("select id from hunt where created_by = \(creator)").map {
      try $0.get("id", as: String.self)
    }
    _ = try Hunt.lock(hunts, on: db)
    let photos = try db.rows(
      """
      delete from checkpoint_submission where photo_name is not null and checkpoint_id in (
        select c.id from hunt_checkpoint c join hunt h on h.id = c.hunt_id where h.created_by = \(creator))
      returning photo_name
      """
    ).compactMap { StoredObjectName(try $0.get("photo_name", as: String.self)) }
    for (owner, photos) in Dictionary(grouping: photos, by: \.owner) {
      for start in stride(from: 0, to: photos.count, by: StoredObjectDeletion.namesMax) {
        let names = Array(photos[start..<min(start + StoredObjectDeletion.namesMax, photos.count)])
        try outbox.add(kind, StoredObjectDeletion(owner: owner, names: names), user: owner, at: now, on: db)
      }
    }
  }

  /// Deletes the photos that no submission names by then.
  static func delivery(_ database: any Database, _ storage: StorageClient) -> Delivery {
    // Groups may be away for a while. A file that is left is deleted when its owner's account is erased.
    Delivery(kind, giveUpAfter: Delivery.month) { message in
      let deletion = try message.decode(StoredObjectDeletion.self)
      let names = deletion.names.map(\.description)
      let named = try await database.readOnce { db in
        try db.rows("select photo_name from checkpoint_submission where photo_name in (\(list: names))").map {
          try $0.get("photo_name", as: String.self)
        }
      }
      let unnamed = Set(names).subtracting(named).sorted().compactMap { StoredObjectName($0) }
      try await storage.delete(unnamed, of: deletion.owner)
    }
  }
}
