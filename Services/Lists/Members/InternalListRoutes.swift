import Database
import Foundation
import Hummingbird
import Web
import Wire

/// Lists for the invites service: who may invite, and letting somebody in.
struct InternalListRoutes: Sendable {
  let database: any Database
  let now: @Sendable () -> Date

  func add(to routes: Router<Context>) {
    let inside = routes.group(context: ServiceCaller.self).add(middleware: Admits(["invites"]))
    inside.get("/internal/lists/{list}/members/{user}", use: role)
    inside.put("/internal/lists/{list}/members/{user}", use: join)
  }

  @Sendable private func role(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    let (id, user) = (try context.list(), try context.user("user"))
    return .exactJSON(
      try await database.read { db in
        ListRole(role: try Invitation.role(of: user, in: id, on: db)?.rawValue, list: try Invitation.list(id, on: db))
      })
  }

  /// Safe to repeat: by one claim somebody joins once. Nobody's role is changed.
  @Sendable private func join(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    let (id, user, now) = (try context.list(), try context.user("user"), now())
    let join = try await request.json(JoinList.self)
    guard let role = Role(rawValue: join.role), Membership.roles.contains(join.role) else {
      throw Failure.invalid(.init("role", "must be one of \(Membership.roles.joined(separator: ", "))"))
    }
    guard (1...100).contains(join.inviteID.count) else {
      throw Failure.invalid(.init("invite_id", "must have 1 to 100 characters"))
    }
    return .exactJSON(
      try await database.write { db in
        try Invitation.join(id, user, as: role, by: join, at: now, on: db)
      })
  }
}

/// What an invite does to a list. Here the list is found without a user: the invites service asks for those who are not
/// in it yet.
private enum Invitation {
  static func list(_ id: Int, on db: any Connection) throws -> ListName {
    let row = try db.row("select id, name, color, visibility from list where id = \(id) and deleted_at is null")
    guard let row else { throw Failure.listNotFound }
    return ListName(
      id: try row.get("id"), name: try row.get("name"), color: try row.get("color"),
      visibility: try row.get("visibility"))
  }

  static func role(of user: UserID, in list: Int, on db: any Connection) throws -> Role? {
    if try db.row("select id from list where id = \(list) and owner_id = \(user)") != nil { return .owner }
    return try MembershipStore.membership(of: user, in: list, on: db)?.role
  }

  static func join(
    _ id: Int, _ user: UserID, as role: Role, by join: JoinList, at now: Date, on db: any Connection
  ) throws -> ListJoined {
    guard try db.change("update list set revision = revision + 1 where id = \(id) and deleted_at is null") == 1 else {
      throw Failure.listNotFound
    }
    let list = try list(id, on: db)
    guard try Self.role(of: user, in: id, on: db) != .owner else {
      return ListJoined(outcome: .alreadyMember, role: Role.owner.rawValue, membershipID: nil, list: list)
    }
    let known = try MembershipStore.membership(of: user, in: id, on: db)
    if try InviteUses.has(join, letIn: user, on: db) {
      // Also who has gone since then is told that they came in, but is not let in again.
      return ListJoined(
        outcome: .joined, role: (known?.role ?? role).rawValue, membershipID: known?.id, list: list)
    }
    if let known {
      return ListJoined(outcome: .alreadyMember, role: known.role.rawValue, membershipID: known.id, list: list)
    }
    try requireGood(join, for: user, in: id, on: db)
    guard let made = try MembershipStore.add(user, to: id, as: role, invite: join.inviteID, at: now, on: db) else {
      throw DatabaseFailure.contended
    }
    try InviteUses.note(join, letIn: user, at: now, on: db)
    return ListJoined(outcome: .joined, role: made.role.rawValue, membershipID: made.id, list: list)
  }

  /// - Throws: 403 when somebody has removed them since the invite was made; 410 when its maker may not invite any more.
  private static func requireGood(
    _ join: JoinList, for user: UserID, in list: Int, on db: any Connection
  ) throws {
    if let madeAt = join.madeAt, try Removals.has(user, from: list, since: madeAt, on: db) {
      throw Failure.memberRemoved
    }
    guard let inviter = join.invitedBy else { return }
    guard try role(of: inviter, in: list, on: db)?.mayEdit ?? false else { throw Failure.inviteLapsed }
  }
}

extension ServiceCaller {
  fileprivate func list() throws(Failure) -> Int {
    guard let text = parameters.get("list"), let id = Int(text), id > 0 else { throw .notFound }
    return id
  }
}

extension Failure {
  fileprivate static let memberRemoved = Failure(
    .forbidden, "member_removed", "They were removed from this list after the invite was made.")
  fileprivate static let inviteLapsed = Failure(
    .gone, "invite_lapsed", "Whoever made this invite may not invite to this list any more.")
}
