import Foundation
import Hummingbird
import Web
import Wire

/// The endpoints by which the invites service queries and adds members.
struct InternalMemberRoutes: Sendable {
  let memberships: MembershipStore
  let idempotency: Idempotency
  let now: @Sendable () -> Date

  func add(to routes: HTTPRoutes) {
    let inside = routes.group(context: ServiceCaller.self).add(middleware: RequiresService(["invites"]))
    inside.get("/internal/groups/{group}/members/{user}", use: membership)
    inside.put("/internal/groups/{group}/members/{user}", use: join)
    inside.post("/internal/groups/{group}/members", use: addSeveral)
    inside.post("/internal/groups/{group}/departed", use: departed)
    let adventuresRoutes = routes.group(context: ServiceCaller.self).add(middleware: RequiresService(["adventures"]))
    adventuresRoutes.get("/internal/users/{id}/groups", use: groups)
  }

  @Sendable private func membership(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    .exactJSON(
      try await memberships.membership(of: try context.user("user"), in: try context.groupID()))
  }

  @Sendable private func groups(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    .exactJSON(try await memberships.member(try context.user()))
  }

  /// Responds with status 200 also when the user cannot join, since the caller has to act on the outcome.
  @Sendable private func join(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    let body = try await request.json(JoinByInvite.self)
    let (group, user): (GroupID, UserID) = (try context.groupID(), try context.user("user"))
    return .exactJSON(try await memberships.join(user, group, by: body, at: now()))
  }

  @Sendable private func addSeveral(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    var request = request
    let call = try await request.idempotentCall(by: context.service.name, context)
    let body = try await Self.decodedBody(of: request)
    let (id, now) = (try context.groupID(), now())
    defer { memberships.changes?.wakeUp() }
    return try await idempotency.once(call) { [memberships] db in
      guard let group = try GroupStore.lock(id, on: db),
        try MembershipStore.activeRole(of: body.addedBy, in: id, on: db) != nil
      else { throw Failure.notInGroup }
      let added = try MembershipStore.add(Set(body.users), to: group, by: body.addedBy, at: now, on: db)
      try memberships.changes?.add(added, of: id, at: now, on: db)
      return try .exactJSON(AddedToGroup(added: added))
    }.response
  }

  /// The users of the request who would not be added by `addSeveral` because they have left or were removed.
  @Sendable private func departed(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    let (id, body) = (try context.groupID(), try await Self.decodedBody(of: request))
    let departed = try await memberships.departed(Set(body.users), from: id, for: body.addedBy)
    return .exactJSON(DepartedMembers(departed: departed.sorted { $0.description < $1.description }))
  }

  private static func decodedBody(of request: Request) async throws -> AddToGroup {
    let body = try await request.json(AddToGroup.self)
    guard body.users.count <= AddToGroup.usersMax else {
      throw Failure.invalid(.init("users", "must have at most \(AddToGroup.usersMax) ids"))
    }
    return body
  }
}
