import Foundation
import Hummingbird
import Web
import Wire

/// The endpoints for leaving a group, removing members, transferring ownership, and closing it.
struct MemberRoutes: Sendable {
  let memberships: MembershipStore
  let now: @Sendable () -> Date

  func add(to routes: HTTPRoutes) {
    let userRoutes = routes.group(context: SignedIn.self)
    userRoutes.delete("/api/groups/{group}", use: leave)
    userRoutes.delete("/api/groups/{group}/members/{user}", use: remove)
    userRoutes.put("/api/groups/{group}/owner", use: transferOwnership)
    userRoutes.post("/api/groups/{group}/close", use: close)
  }

  @Sendable private func leave(_ request: Request, _ context: SignedIn) async throws -> Response {
    try await memberships.leave(context.groupID(), context.user, at: now())
    return .json(SuccessBody(success: true))
  }

  @Sendable private func remove(_ request: Request, _ context: SignedIn) async throws -> Response {
    let (group, user): (GroupID, UserID) = (
      try context.groupID(), try context.id("user", else: .memberNotFound)
    )
    try await memberships.remove(user, from: group, by: context.user, at: now())
    return .json(SuccessBody(success: true))
  }

  @Sendable private func transferOwnership(_ request: Request, _ context: SignedIn) async throws -> Response {
    let newOwner = try await request.json(NewOwnerBody.self).user_id
    try await memberships.transferOwnership(of: context.groupID(), to: newOwner, by: context.user, at: now())
    return .json(SuccessBody(success: true))
  }

  @Sendable private func close(_ request: Request, _ context: SignedIn) async throws -> Response {
    try await memberships.close(context.groupID(), by: context.user, at: now())
    return .json(SuccessBody(success: true))
  }
}

/// The request to transfer ownership.
private struct NewOwnerBody: Decodable {
  let user_id: UserID
}
