import Database
import Foundation
import Messages
import Wire

/// All data of the invites service about one user.
struct PersonalDataExport: Encodable, Sendable {
  let invites_made: [ExportedCreatedInvite]
  let invites_used: [ExportedUsedInvite]
  let invites_addressed: [ExportedAddressedInvite]

  init(of user: UserID, _ invites: InviteStore, on db: any Connection) throws {
    invites_made = try db.rows("\(selectInvite(with: .phone)) where inviter_id = \(user) order by created_at, id")
      .map { row in
        ExportedCreatedInvite(
          try Invite(row), phone: try invites.open(.phone, in: row).flatMap { PhoneNumber($0)?.masked })
      }
    invites_used = try db.rows(
      """
      select i.id, i.kind, i.destination_id, u.claimed_at from invite_use u join invite i on i.id = u.invite_id
      where u.user_id = \(user) order by u.claimed_at, i.id
      """
    ).map(ExportedUsedInvite.init)
    invites_addressed = try db.rows("\(selectInvite) where invitee_id = \(user) order by created_at, id")
      .map { ExportedAddressedInvite(try Invite($0)) }
  }
}

/// An invite that the user has created.
struct ExportedCreatedInvite: Encodable, Sendable {
  let id: InviteID
  let way: String
  let leads_to: String
  let destination_id: String
  let state: String
  /// Another user's number, so only its country code and its last digits.
  let phone_number: String?
  let uses_count: Int
  let created_at: Date
  let expires_at: Date

  fileprivate init(_ invite: Invite, phone: String?) {
    id = invite.id
    way = invite.channel.rawValue
    leads_to = invite.target.kind.rawValue
    destination_id = invite.target.id
    state = invite.storedState.rawValue
    phone_number = phone
    uses_count = invite.usesCount
    created_at = invite.createdAt
    expires_at = invite.expiresAt
  }
}

/// An invite that the user has used.
struct ExportedUsedInvite: Encodable, Sendable {
  let id: InviteID
  let leads_to: String
  let destination_id: String
  let used_at: Date

  fileprivate init(_ row: Row) throws {
    id = try row.get("id")
    leads_to = try row.get("kind")
    destination_id = try row.get("destination_id")
    used_at = try row.get("claimed_at")
  }
}

/// An invite that is for the user alone.
struct ExportedAddressedInvite: Encodable, Sendable {
  let id: InviteID
  let leads_to: String
  let destination_id: String
  let state: String
  let created_at: Date
  let expires_at: Date

  fileprivate init(_ invite: Invite) {
    id = invite.id
    leads_to = invite.target.kind.rawValue
    destination_id = invite.target.id
    state = invite.storedState.rawValue
    created_at = invite.createdAt
    expires_at = invite.expiresAt
  }
}
