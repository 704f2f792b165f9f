import ClientBodies
import Clients
import Foundation
import Hummingbird
import Web
import Wire

/// The endpoints by which members list each other and leave, and the owner changes roles and removes members.
struct CollectionMemberRoutes: Sendable {
  let members: CollectionMemberStore
  let users: UsersClient
  let now: @Sendable () -> Date

  func add(to routes: HTTPRoutes) {
    let userRoutes = routes.group(context: SignedIn.self)
    userRoutes.get("/collections/{collection}/members", use: list)
    userRoutes.patch("/collections/{collection}/members/{member}", use: change)
    userRoutes.delete("/collections/{collection}/members/{member}", use: remove)
  }

  @Sendable private func list(_ request: Request, _ context: SignedIn) async throws -> Response {
    let members = try await members.members(of: context.collectionID(), seenBy: context.user)
    let people = try await users.names(of: Set(members.map(\.user)))
    return .exactJSON(
      DataAnswer(data: members.map { ClientBodies.SharedCollection.Member($0, people[$0.user]) }, count: members.count))
  }

  @Sendable private func change(_ request: Request, _ context: SignedIn) async throws -> Response {
    let role = try await request.json(RoleBody.self).role
    guard role != .owner else { throw Failure.invalid(.init("role", "must be EDITOR or VIEW_ONLY")) }
    let member = try await members.change(
      context.memberReference(), of: context.collectionID(), to: role, by: context.user, at: now())
    let people = try await users.names(of: [member.user])
    return .exactJSON(DataAnswer(data: ClientBodies.SharedCollection.Member(member, people[member.user])))
  }

  @Sendable private func remove(_ request: Request, _ context: SignedIn) async throws -> Response {
    try await members.remove(
      context.memberReference(), from: context.collectionID(), by: context.user, at: now())
    return Response(status: .noContent)
  }
}

/// The request to change a member's role.
private struct RoleBody: Decodable {
  let role: CollectionRole
}

extension RequestContext {
  fileprivate func memberReference() throws -> CollectionMemberReference {
    guard let reference = parameters.get("member").flatMap(CollectionMemberReference.init) else {
      throw Failure.memberNotFound
    }
    return reference
  }
}
