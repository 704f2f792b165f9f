import Database
import Foundation
import Messages
import Outbox
import Web
import Wire

/// What a user is handed when they ask what this service knows of them.
struct PersonalData: Encodable, Sendable {
  /// An invite that the user has made.
  struct Made: Encodable, Sendable {
    let id: InviteID
    let way: String
    let leads_to: String
    let destination_id: String
    let state: String
    /// Somebody else's, so only its country and its end.
    let phone_number: String?
    let uses_count: Int
    let created_at: Date
    let expires_at: Date
  }

  /// An invite by which the user has come in.
  struct Used: Encodable, Sendable {
    let id: InviteID
    let leads_to: String
    let destination_id: String
    let used_at: Date
  }

  /// An invite that was made for the user alone.
  struct Addressed: Encodable, Sendable {
    let id: InviteID
    let leads_to: String
    let destination_id: String
    let state: String
    let created_at: Date
    let expires_at: Date
  }

  let invites_made: [Made]
  let invites_used: [Used]
  let invites_addressed: [Addressed]
}

/// Everything that this service knows of one user, to be handed out or forgotten.
struct PersonalDataStore: KeepsPersonalData {
  let invites: InviteStore
  let outbox: Outbox
  var database: any Database { invites.database }

  func export(of user: UserID) async throws -> PersonalData {
    try await database.read { [invites] db in
      PersonalData(
        invites_made: try Self.made(by: user, invites, on: db), invites_used: try Self.used(by: user, on: db),
        invites_addressed: try Self.addressed(to: user, on: db))
    }
  }

  private static func made(
    by user: UserID, _ invites: InviteStore, on db: any Connection
  ) throws -> [PersonalData.Made] {
    try db.rows("\(selectInvite(with: .phone)) where inviter_id = \(user) order by created_at, id").map { row in
      made(try Invite(row), phone: try invites.open(.phone, in: row).flatMap { PhoneNumber($0)?.masked })
    }
  }

  private static func made(_ invite: Invite, phone: String?) -> PersonalData.Made {
    PersonalData.Made(
      id: invite.id, way: invite.way.rawValue, leads_to: invite.destination.kind.rawValue,
      destination_id: invite.destination.id, state: invite.kept.rawValue, phone_number: phone,
      uses_count: invite.usesCount, created_at: invite.createdAt, expires_at: invite.expiresAt)
  }

  private static func used(by user: UserID, on db: any Connection) throws -> [PersonalData.Used] {
    try db.rows(
      """
      select i.id, i.kind, i.destination_id, u.claimed_at from invite_use u join invite i on i.id = u.invite_id
      where u.user_id = \(user) order by u.claimed_at, i.id
      """
    ).map { row in
      PersonalData.Used(
        id: try row.get("id"), leads_to: try row.get("kind"), destination_id: try row.get("destination_id"),
        used_at: try row.get("claimed_at"))
    }
  }

  private static func addressed(to user: UserID, on db: any Connection) throws -> [PersonalData.Addressed] {
    try db.rows("\(selectInvite) where invitee_id = \(user) order by created_at, id").map(Invite.init).map { invite in
      PersonalData.Addressed(
        id: invite.id, leads_to: invite.destination.kind.rawValue, destination_id: invite.destination.id,
        state: invite.kept.rawValue, created_at: invite.createdAt, expires_at: invite.expiresAt)
    }
  }

  /// Nobody comes in any more by what the user has made, or in the user's name by what was made for them. Who is on their
  /// way in by an invite of theirs still gets there.
  func erase(_ user: UserID, at now: Date) async throws {
    try await database.write { [outbox] db in
      // With those who have invited them, their number and their address are theirs all the same.
      try db.change(
        """
        update invite set sealed_phone = null, sealed_email = null
        where invitee_id = \(user) or id in (select invite_id from invite_use where user_id = \(user))
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
      try CheckedNumbers.forget(user, on: db)
      try outbox.erase(user, on: db)
      try Idempotency.erase(user, on: db)
    }
  }
}
