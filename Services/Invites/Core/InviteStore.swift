import Database
import Foundation
import Tokens
import Wire

/// SQL on the table `invite`.
struct InviteStore: Sendable {
  let database: any Database
  let keys: DataKeys

  /// The invite with this id.
  ///
  /// - Throws: `missing` when there is none, by default a 404.
  func invite(_ id: InviteID, else missing: Failure = .inviteNotFound) async throws -> Invite {
    guard let invite = try await database.read({ db in try Self.find(id, on: db) }) else { throw missing }
    return invite
  }

  /// The invite of a link token or code; nil when there is none.
  func invite(for token: InviteToken) async throws -> Invite? {
    try await database.read { [keys] db in try Self.find(token, keys, on: db) }
  }

  static func find(_ id: InviteID, on db: any Connection) throws -> Invite? {
    try db.row("\(selectInvite) where id = \(id)").map(Invite.init)
  }

  /// The invite to a list with this integer id.
  static func find(number: Int, on db: any Connection) throws -> Invite? {
    try db.row(
      "\(selectInvite) where id = (select invite_id from list_invite_number where number = \(number))"
    ).map(Invite.init)
  }

  static func find(_ token: InviteToken, _ keys: DataKeys, on db: any Connection) throws -> Invite? {
    try db.row("\(selectInvite) where secret_hash in (\(list: token.digests(under: keys)))").map(Invite.init)
  }

  /// The newest 100 links to a target, in every state.
  func links(to target: JoinTarget) async throws -> [Invite] {
    try await database.read { db in
      try db.rows(
        """
        \(selectInvite) where kind = \(target.kind.rawValue) and destination_id = \(target.id) and way = 'link'
        order by created_at desc, id desc limit 100
        """
      ).map(Invite.init)
    }
  }

  /// Revokes a link, so that nobody can use it any more.
  ///
  /// - Throws: 404 when there is no such link to that target, 409 when it has ended already.
  func revoke(_ id: InviteID, to target: JoinTarget, at now: Date) async throws {
    try await database.write { db in
      let invite = try Self.find(id, on: db)
      guard let invite, invite.target == target, invite.channel == .link else { throw Failure.inviteNotFound }
      guard try Self.end(id, as: .revoked, at: now, on: db) else { throw Failure.inviteProcessed }
    }
  }

  /// Rejects an invite that one user can use. The conditional update decides against a concurrent acceptance: only one
  /// of the two succeeds.
  ///
  /// - Throws: 409 when the invite has been answered, used or has expired.
  func reject(_ invite: Invite, at now: Date) async throws {
    try await database.write { db in
      let rejected = try db.change(
        """
        update invite set state = 'rejected', ended_at = \(now)
        where id = \(invite.id) and state = 'pending' and expires_at > \(now) and uses_count = 0
        """)
      guard rejected == 1 else { throw Failure.inviteProcessed }
    }
  }

  /// Ends a pending invite. Returns false when it had ended already.
  static func end(_ id: InviteID, as state: Invite.State, at now: Date, on db: any Connection) throws -> Bool {
    try db.change(
      """
      update invite set state = \(state.rawValue), ended_at = \(now) where id = \(id) and state = 'pending'
      """) == 1
  }
}

let selectInvite: SQL = "select \(inviteColumns) from invite"

/// The same select with one sealed column, for ``InviteStore/open(_:in:)``.
func selectInvite(with field: InviteStore.SealedField) -> SQL {
  "select \(inviteColumns), \(field.column) as sealed from invite"
}

private let inviteColumns: SQL = """
  id, way, kind, destination_id, role, inviter_id, invitee_id, sealed_email is not null as is_for_an_address, state,
    uses_max, uses_count, created_at, expires_at,
    (select number from list_invite_number named where named.invite_id = invite.id) as number
  """

extension Invite {
  init(_ row: Row) throws {
    id = try row.get("id")
    number = try row.optional("number")
    channel = try row.enumValue("way")
    guard let target = JoinTarget(try row.enumValue("kind"), try row.get("destination_id")) else {
      throw DatabaseFailure.unreadable(column: "destination_id")
    }
    self.target = target
    role = try row.optional("role")
    inviter = try row.optional("inviter_id")
    invitee = try row.optional("invitee_id")
    hasInviteeEmail = try row.get("is_for_an_address")
    storedState = try row.enumValue("state")
    usesMax = try row.optional("uses_max")
    usesCount = try row.get("uses_count")
    createdAt = try row.get("created_at")
    expiresAt = try row.get("expires_at")
  }
}

extension Failure {
  static let inviteNotFound = Failure(.notFound, "invite_not_found", "There is no such invite.")
  static let inviteProcessed = Failure(.conflict, "invite_processed", "This invite has been answered already.")
  static let inviteExpired = Failure(.gone, "invite_expired", "This invite has expired.")
}
