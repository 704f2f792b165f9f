import Database
import Foundation
import Wire

/// Which invites have let whom in, so that none does so twice, even after the person has left again.
enum InviteUses {
  static func has(_ invite: InviteID, letIn user: UserID, on db: any Connection) throws -> Bool {
    try db.row("select 1 as used from invite_use where invite_id = \(invite) and user_id = \(user)") != nil
  }

  /// Once for each invite and user: the caller holds the lock of what they join.
  static func note(_ invite: InviteID, letIn user: UserID, at now: Date, on db: any Connection) throws {
    try db.change("insert into invite_use (invite_id, user_id, used_at) values (\(invite), \(user), \(now))")
  }
}
