import Database
import Foundation
import Wire

/// Photos that end before their time. From then on nobody sees them; the sweeper of photos deletes bytes and rows.
enum EndedPhotos {
  static func end(of group: GroupID, at now: Date, on db: any Connection) throws {
    try db.change(
      "update photo set state = 'ended', expires_at = \(now) where group_id = \(group) and state <> 'ended'")
  }

  static func end(of sender: UserID, at now: Date, on db: any Connection) throws {
    try db.change(
      "update photo set state = 'ended', expires_at = \(now) where sender_id = \(sender) and state <> 'ended'")
  }
}
