import Clients
import Database
import Foundation
import Hummingbird
import Web
import Wire

/// Lists for other services: who may invite, letting somebody in, and who is in the same lists.
struct InternalListRoutes: Sendable {
  let database: any Database
  let groups: GroupsClient
  let now: @Sendable () -> Date

  func add(to routes: Router<Context>) {
    let inside = routes.group(context: ServiceCaller.self).add(middleware: Admits(["invites"]))
    inside.get("/internal/lists/{list}/members/{user}", use: role)
    inside.put("/internal/lists/{list}/members/{user}", use: join)
    let asking = routes.group(context: ServiceCaller.self).add(middleware: Admits(["invites", "groups"]))
    asking.post("/internal/lists/relations", use: relations)
  }

  /// Blocks are not known here.
  @Sendable private func relations(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    let query = try await request.json(RelationsQuery.self)
    guard query.others.count <= RelationsQuery.othersMax else {
      throw Failure.invalid(.init("others", "must have at most \(RelationsQuery.othersMax) ids"))
    }
    let others = Set(query.others)
    let shared = try await database.readOnce { try SharedLists.people(with: query.user, among: others, on: $0) }
    return .exactJSON(Relations(shared: shared))
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
    let isKeptApart = try await isKeptApart(user, by: join, from: id)
    return .exactJSON(
      try await database.write { db in
        try Invitation.join(id, user, as: role, by: join, isKeptApart: isKeptApart, at: now, on: db)
      })
  }

  /// Whether a block lies between somebody and whoever invites them. Not asked for whom the invite lets in no more.
  ///
  /// - Throws: 503 while groups does not answer: who keeps somebody out is not overruled, and joining can be repeated.
  private func isKeptApart(_ user: UserID, by join: JoinList, from list: Int) async throws -> Bool {
    guard let inviter = join.invitedBy, inviter != user else { return false }
    let isIn = try await database.read { db in
      try Invitation.role(of: user, in: list, on: db) != nil || InviteUses.has(join, letIn: user, on: db)
    }
    guard !isIn else { return false }
    do { return try await groups.relations(of: user, to: [inviter]).blocked.contains(inviter) } catch is Failure {
      throw Failure.unavailable
    }
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
    try MembershipStore.role(of: user, in: list, on: db)
  }

  static func join(
    _ id: Int, _ user: UserID, as role: Role, by join: JoinList, isKeptApart: Bool, at now: Date, on db: any Connection
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
    guard !isKeptApart else { throw Failure.blocked }
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
  /// Of them alone: the invite stays good for others.
  fileprivate static let blocked = Failure(.forbidden, "blocked", "A block keeps them from joining by this invite.")
  fileprivate static let inviteLapsed = Failure(
    .gone, "invite_lapsed", "Whoever made this invite may not invite to this list any more.")
}
