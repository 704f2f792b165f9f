import Foundation
import Hummingbird
import Web
import Wire

/// The endpoints by which the invites service queries and adds members.
struct InternalCollectionRoutes: Sendable {
  let members: CollectionMemberStore
  let now: @Sendable () -> Date

  func add(to routes: HTTPRoutes) {
    let inside = routes.group(context: ServiceCaller.self).add(middleware: RequiresService(["invites"]))
    inside.get("/internal/collections/{collection}/members/{user}", use: membership)
    inside.put("/internal/collections/{collection}/members/{user}", use: join)
  }

  @Sendable private func membership(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    let (id, user): (CollectionID, UserID) = (try context.collectionID(), try context.user("user"))
    return .exactJSON(try await members.membership(of: user, in: id))
  }

  /// Responds with status 200 also when the user cannot join, since the caller has to act on the outcome.
  @Sendable private func join(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    let body = try await request.json(JoinByInvite.self)
    guard let role = body.role, role != .owner else {
      throw Failure.invalid(.init("role", "must be EDITOR or VIEW_ONLY"))
    }
    let (id, user): (CollectionID, UserID) = (try context.collectionID(), try context.user("user"))
    return .exactJSON(try await members.join(user, id, as: role, by: body, at: now()))
  }
}
