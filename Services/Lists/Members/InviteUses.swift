import Database
import Foundation
import Wire

/// Which invites have let whom in, so that no claim does so twice, even after the person has gone again.
enum InviteUses {
  static func has(_ join: JoinList, letIn user: UserID, on db: any Connection) throws -> Bool {
    let row = try db.row("select claim_id from invite_use where invite_id = \(join.inviteID) and user_id = \(user)")
    guard let row else { return false }
    guard let claim = join.claimID else { return true }
    return try row.optional("claim_id") == claim
  }

  /// Once for each claim: the caller holds the list. Only the last claim can come again.
  static func note(_ join: JoinList, letIn user: UserID, at now: Date, on db: any Connection) throws {
    try db.change(
      """
      insert into invite_use (invite_id, user_id, claim_id, used_at)
      values (\(join.inviteID), \(user), \(join.claimID), \(now))
      on conflict (invite_id, user_id) do update set claim_id = excluded.claim_id, used_at = excluded.used_at
      """)
  }
}
