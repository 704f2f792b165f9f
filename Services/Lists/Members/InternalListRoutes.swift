import Clients
import Database
import Foundation
import Hummingbird
import Memberships
import Web
import Wire

/// The internal routes for other services: roles, joining by an invite, and users who share a list.
struct InternalListRoutes: Sendable {
  let database: any Database
  let groups: GroupsClient
  let now: @Sendable () -> Date

  func add(to routes: HTTPRoutes) {
    let invitesRoutes = routes.group(context: ServiceCaller.self).add(middleware: RequiresService(["invites"]))
    invitesRoutes.get("/internal/lists/{list}/members/{user}", use: role)
    invitesRoutes.put("/internal/lists/{list}/members/{user}", use: join)
    let relationsRoutes = routes.group(context: ServiceCaller.self)
      .add(middleware: RequiresService(["invites", "groups"]))
    relationsRoutes.post("/internal/lists/relations", use: relations)
  }

  /// `blocked` is always empty, because blocks are stored by the groups service.
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
        ListMembership(
          role: try MembershipStore.role(of: user, in: id, on: db)?.rawValue, list: try InvitedJoin.list(id, on: db))
      })
  }

  /// Safe to repeat: a claim is used once. The role of an existing member is not changed.
  @Sendable private func join(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    let (id, user, now) = (try context.list(), try context.user("user"), now())
    let join = try await request.json(JoinList.self)
    guard let role = ListRole(rawValue: join.role), Membership.roles.contains(join.role) else {
      throw Failure.invalid(.init("role", "must be one of \(Membership.roles.joined(separator: ", "))"))
    }
    guard (1...100).contains(join.inviteID.count) else {
      throw Failure.invalid(.init("invite_id", "must have 1 to 100 characters"))
    }
    let isBlocked = try await isBlocked(user, by: join, from: id)
    return .exactJSON(
      try await database.write { db in
        try InvitedJoin.join(id, user, as: role, by: join, isBlocked: isBlocked, at: now, on: db)
      })
  }

  /// Whether there is a block between a user and their inviter. Not checked for members, and for users whom this claim
  /// has admitted before, because the invite does not admit them again.
  ///
  /// - Throws: 503 while groups does not answer, because a block must not be ignored, and joining can be retried.
  private func isBlocked(_ user: UserID, by join: JoinList, from list: Int) async throws -> Bool {
    guard let inviter = join.invitedBy, inviter != user else { return false }
    let isAdmitted = try await database.read { db in
      try MembershipStore.role(of: user, in: list, on: db) != nil
        || InviteUseStore.hasJoined(user, by: join, on: db)
    }
    guard !isAdmitted else { return false }
    do { return try await groups.relations(of: user, to: [inviter]).blocked.contains(inviter) } catch is Failure {
      throw Failure.unavailable
    }
  }
}

/// Joins a user to a list by an invite. Lists are found without a user here, because the invites service asks for users
/// who are not members yet.
private enum InvitedJoin {
  static func list(_ id: Int, on db: any Connection) throws -> ListSummary {
    let row = try db.row("select id, name, color, visibility from list where id = \(id) and deleted_at is null")
    guard let row else { throw Failure.listNotFound }
    return ListSummary(
      id: try row.get("id"), name: try row.get("name"), color: try row.get("color"),
      visibility: try row.get("visibility"))
  }

  static func join(
    _ id: Int, _ user: UserID, as role: ListRole, by join: JoinList, isBlocked: Bool, at now: Date,
    on db: any Connection
  ) throws -> JoinedList {
    guard try db.change("update list set revision = revision + 1 where id = \(id) and deleted_at is null") == 1 else {
      throw Failure.listNotFound
    }
    let list = try list(id, on: db)
    guard try MembershipStore.role(of: user, in: id, on: db) != .owner else {
      return JoinedList(outcome: .alreadyMember, role: ListRole.owner.rawValue, membershipID: nil, list: list)
    }
    let existing = try MembershipStore.membership(of: user, in: id, on: db)
    if try InviteUseStore.hasJoined(user, by: join, on: db) {
      // The same result for a retry, also when the user has left since; they are not added again.
      return JoinedList(
        outcome: .joined, role: (existing?.role ?? role).rawValue, membershipID: existing?.id, list: list)
    }
    if let existing {
      return JoinedList(
        outcome: .alreadyMember, role: existing.role.rawValue, membershipID: existing.id, list: list)
    }
    guard !isBlocked else { throw Failure.blocked }
    try requireValid(join, for: user, in: id, on: db)
    let membership = try MembershipStore.add(user, to: id, as: role, invite: join.inviteID, at: now, on: db)
    guard let membership else {
      throw DatabaseFailure.contended
    }
    try InviteUseStore.record(join, by: user, at: now, on: db)
    return JoinedList(outcome: .joined, role: membership.role.rawValue, membershipID: membership.id, list: list)
  }

  /// - Throws: 403 when the user was removed after the invite was created; 410 when its creator may no longer invite.
  private static func requireValid(
    _ join: JoinList, for user: UserID, in list: Int, on db: any Connection
  ) throws {
    if let madeAt = join.madeAt, try DepartureStore.wasRemoved(user, from: list, since: madeAt, on: db) {
      throw Failure.memberRemoved
    }
    guard let inviter = join.invitedBy else { return }
    guard try MembershipStore.role(of: inviter, in: list, on: db)?.mayEdit ?? false else { throw Failure.inviteLapsed }
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
  /// Concerns this user alone: the invite stays valid for others.
  fileprivate static let blocked = Failure(.forbidden, "blocked", "A block keeps them from joining by this invite.")
  fileprivate static let inviteLapsed = Failure(
    .gone, "invite_lapsed", "Whoever made this invite may not invite to this list any more.")
}
