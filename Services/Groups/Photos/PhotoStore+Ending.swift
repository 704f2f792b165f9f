import Database
import Foundation
import Wire

/// Ends all photos of a group or of a sender before they expire. Nobody can see them afterwards; ``PhotoSweep`` deletes
/// their bytes and rows.
extension PhotoStore {
  /// The group is closed with them, which ends its topic.
  static func endAll(in group: GroupID, at now: Date, on db: any Connection) throws {
    try db.change(
      "update photo set state = 'ended', expires_at = \(now) where group_id = \(group) and state <> 'ended'")
  }

  /// The members of the groups are told.
  static func endAll(by sender: UserID, at now: Date, on db: any Connection) throws {
    let ended = try db.rows(
      """
      update photo set state = 'ended', expires_at = \(now) where sender_id = \(sender) and state = 'ready'
      returning id, group_id, sender_id
      """)
    try PhotoEvents.ended(ended.map(EndedPhoto.init), at: now, on: db)
    try db.change(
      "update photo set state = 'ended', expires_at = \(now) where sender_id = \(sender) and state <> 'ended'")
  }
}
