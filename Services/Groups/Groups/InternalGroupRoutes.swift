import Foundation
import Hummingbird
import Web
import Wire

/// Groups for the service that invites people to them.
struct InternalGroupRoutes: Sendable {
  let memberships: MembershipStore
  let idempotency: Idempotency
  let now: @Sendable () -> Date

  func add(to routes: Router<Context>) {
    let inside = routes.group(context: ServiceCaller.self).add(middleware: Admits(["invites"]))
    inside.get("/internal/groups/{group}/members/{user}", use: standing)
    inside.put("/internal/groups/{group}/members/{user}", use: join)
    inside.post("/internal/groups/{group}/members", use: addSeveral)
    inside.post("/internal/groups/{group}/departed", use: departed)
  }

  @Sendable private func standing(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    .exactJSON(
      try await memberships.standing(of: try context.user("user"), in: try context.groupID()))
  }

  /// That there is no seat is an answer with status 200: the caller has to act on it.
  @Sendable private func join(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    let body = try await request.json(JoinByInvite.self)
    let (group, user): (GroupID, UserID) = (try context.groupID(), try context.user("user"))
    return .exactJSON(try await memberships.join(user, group, by: body, at: now()))
  }

  @Sendable private func addSeveral(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    var request = request
    let call = try await request.idempotentCall(by: context.service.name, context)
    let body = try await Self.body(request)
    let (id, now) = (try context.groupID(), now())
    return try await idempotency.once(call) { db in
      guard let group = try GroupStore.locked(id, on: db),
        try MembershipStore.activeRole(of: body.addedBy, in: id, on: db) != nil
      else { throw Failure.notInGroup }
      let added = try MembershipStore.add(Set(body.users), to: group, by: body.addedBy, at: now, on: db)
      return try .exactJSON(AddedToGroup(added: added))
    }.response
  }

  /// Who would not be added by the same body.
  @Sendable private func departed(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    let (id, body) = (try context.groupID(), try await Self.body(request))
    let departed = try await memberships.departed(Set(body.users), from: id, for: body.addedBy)
    return .exactJSON(DepartedFromGroup(departed: departed.sorted { $0.description < $1.description }))
  }

  private static func body(_ request: Request) async throws -> AddToGroup {
    let body = try await request.json(AddToGroup.self)
    guard body.users.count <= AddToGroup.usersMax else {
      throw Failure.invalid(.init("users", "must have at most \(AddToGroup.usersMax) ids"))
    }
    return body
  }
}
