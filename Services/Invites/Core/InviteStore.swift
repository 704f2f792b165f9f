import Database
import Foundation
import Tokens
import Wire

/// Every statement on invites themselves.
struct InviteStore: Sendable {
  let database: any Database
  let keys: DataKeys

  /// - Throws: 404 without one.
  func invite(_ id: InviteID, else missing: Failure = .inviteNotFound) async throws -> Invite {
    guard let invite = try await database.read({ db in try Self.find(id, on: db) }) else { throw missing }
    return invite
  }

  /// The invite that a secret opens; nil without one.
  func invite(openedBy secret: Secret) async throws -> Invite? {
    try await database.read { [keys] db in try Self.find(secret, keys, on: db) }
  }

  static func find(_ id: InviteID, on db: any Connection) throws -> Invite? {
    try db.row("\(selectInvite) where id = \(id)").map(Invite.init)
  }

  /// An invite to a list, by its number.
  static func find(number: Int, on db: any Connection) throws -> Invite? {
    try db.row(
      "\(selectInvite) where id = (select invite_id from list_invite_number where number = \(number))"
    ).map(Invite.init)
  }

  static func find(_ secret: Secret, _ keys: DataKeys, on db: any Connection) throws -> Invite? {
    try db.row("\(selectInvite) where secret_hash in (\(list: secret.digests(under: keys)))").map(Invite.init)
  }

  /// The newest links to something, at most 100.
  func links(to destination: Destination) async throws -> [Invite] {
    try await database.read { db in
      try db.rows(
        """
        \(selectInvite) where kind = \(destination.kind.rawValue) and destination_id = \(destination.id) and way = 'link'
        order by created_at desc, id desc limit 100
        """
      ).map(Invite.init)
    }
  }

  /// Nobody comes in by it any more.
  ///
  /// - Throws: 404 when there is none to that destination, 409 when it is over already.
  func revoke(_ id: InviteID, to destination: Destination, at now: Date) async throws {
    try await database.write { db in
      let invite = try Self.find(id, on: db)
      guard let invite, invite.destination == destination, invite.way == .link else { throw Failure.inviteNotFound }
      guard try Self.end(id, as: .revoked, at: now, on: db) else { throw Failure.inviteProcessed }
    }
  }

  /// Turns down an invite that is for one person. Against an acceptance at the same time, one of the two holds.
  ///
  /// - Throws: 404, 409, 410 or 403, in this order.
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

  /// False when it was over already.
  static func end(_ id: InviteID, as state: Invite.State, at now: Date, on db: any Connection) throws -> Bool {
    try db.change(
      """
      update invite set state = \(state.rawValue), ended_at = \(now) where id = \(id) and state = 'pending'
      """) == 1
  }
}

let selectInvite: SQL = "select \(inviteColumns) from invite"

/// The same with what rests sealed beside it, for ``InviteStore/open(_:in:)``.
func selectInvite(with sealed: InviteStore.Sealed) -> SQL {
  "select \(inviteColumns), \(sealed.column) as sealed from invite"
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
    way = try row.word("way")
    guard let destination = Destination(try row.word("kind"), try row.get("destination_id")) else {
      throw DatabaseFailure.unreadable(column: "destination_id")
    }
    self.destination = destination
    role = try row.optional("role")
    inviter = try row.optional("inviter_id")
    invitee = try row.optional("invitee_id")
    isForAnAddress = try row.get("is_for_an_address")
    kept = try row.word("state")
    usesMax = try row.optional("uses_max")
    usesCount = try row.get("uses_count")
    createdAt = try row.get("created_at")
    expiresAt = try row.get("expires_at")
  }
}

extension Row {
  /// A word of a closed set.
  func word<Word: RawRepresentable<String>>(_ name: String) throws -> Word {
    guard let word = Word(rawValue: try get(name)) else { throw DatabaseFailure.unreadable(column: name) }
    return word
  }
}

extension Failure {
  static let inviteNotFound = Failure(.notFound, "invite_not_found", "There is no such invite.")
  static let inviteProcessed = Failure(.conflict, "invite_processed", "This invite has been answered already.")
  static let inviteExpired = Failure(.gone, "invite_expired", "This invite has expired.")
}
