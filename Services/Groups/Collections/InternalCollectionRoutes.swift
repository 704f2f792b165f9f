import Foundation
import Hummingbird
import Web
import Wire

/// Collections for the service that invites people to them.
struct InternalCollectionRoutes: Sendable {
  let members: CollectionMemberStore
  let now: @Sendable () -> Date

  func add(to routes: Router<Context>) {
    let inside = routes.group(context: ServiceCaller.self).add(middleware: Admits(["invites"]))
    inside.get("/internal/collections/{collection}/members/{user}", use: standing)
    inside.put("/internal/collections/{collection}/members/{user}", use: join)
  }

  @Sendable private func standing(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    let (id, user): (CollectionID, UserID) = (try context.collectionID(), try context.user("user"))
    return .exactJSON(try await members.standing(of: user, in: id))
  }

  /// That there is no seat is an answer with status 200: the caller has to act on it.
  @Sendable private func join(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    let body = try await request.json(JoinByInvite.self)
    guard let role = body.role, role != .owner else {
      throw Failure.invalid(.init("role", "must be EDITOR or VIEW_ONLY"))
    }
    let (id, user): (CollectionID, UserID) = (try context.collectionID(), try context.user("user"))
    return .exactJSON(try await members.join(user, id, as: role, by: body, at: now()))
  }
}
