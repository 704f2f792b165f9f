import Database
import EventFeed
import Foundation
import Outbox
import Web
import Wire

/// The statements that erase a user's data.
enum PersonalDataErasure {
  /// Revokes the invites that the user has created and those that are for the user alone, and deletes the user's data.
  /// A join that another user has already claimed is still completed. Safe to repeat.
  static func erase(_ user: UserID, _ outbox: Outbox, at now: Date, on db: any Connection) throws {
    // The user's number and address are their data, also in invites of others.
    try db.change(
      """
      update invite set sealed_phone = null, sealed_email = null where id in (
        select id from invite where invitee_id = \(user)
        union select invite_id from invite_use where user_id = \(user))
      """)
    try db.change(
      """
      update invite set state = case when state = 'pending' then 'revoked' else state end,
        ended_at = coalesce(ended_at, \(now)), sealed_secret = null, sealed_phone = null, sealed_email = null,
        inviter_id = null, invitee_hash = null
      where inviter_id = \(user)
      """)
    try db.change(
      """
      update invite set state = case when state = 'pending' then 'revoked' else state end,
        ended_at = coalesce(ended_at, \(now)), invitee_id = null, invitee_hash = null
      where invitee_id = \(user)
      """)
    try db.change("delete from invite_use where user_id = \(user)")
    try db.change("delete from inviter where user_id = \(user)")
    try CheckedNumberStore.erase(user, on: db)
    try outbox.erase(user, on: db)
    try Idempotency.erase(user, on: db)
    try EventFeed.erase(user, at: now, on: db)
  }
}
