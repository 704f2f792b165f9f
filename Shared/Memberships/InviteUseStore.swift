import Database
import Foundation
import Wire

/// The request of a user to join by an invite. The services store its id in columns of different types.
package protocol InviteUse {
  associatedtype StoredID: Bindable
  var inviteID: StoredID { get }
  var claimID: ClaimID? { get }
}

extension JoinByInvite: InviteUse {}
extension JoinList: InviteUse {}

/// Records in the `invite_use` table of a service which users have joined by which invites, so that no claim takes
/// effect twice, even after the user has left.
package enum InviteUseStore {
  /// Whether the user has joined by this claim, or by any claim of the invite when the request has none.
  package static func hasJoined(_ user: UserID, by use: some InviteUse, on db: any Connection) throws -> Bool {
    let row = try db.row("select claim_id from invite_use where invite_id = \(use.inviteID) and user_id = \(user)")
    guard let row else { return false }
    guard let claim = use.claimID else { return true }
    return try row.optional("claim_id") == claim
  }

  /// Called once per claim, with the lock of the group, collection or list held. Keeps only the user's latest claim of
  /// an invite, since no other can be repeated.
  package static func record(_ use: some InviteUse, by user: UserID, at now: Date, on db: any Connection) throws {
    try db.change(
      """
      insert into invite_use (invite_id, user_id, claim_id, used_at)
      values (\(use.inviteID), \(user), \(use.claimID), \(now))
      on conflict (invite_id, user_id) do update set claim_id = excluded.claim_id, used_at = excluded.used_at
      """)
  }
}
