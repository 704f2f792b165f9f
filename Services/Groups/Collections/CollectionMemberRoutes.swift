import Clients
import Foundation
import Hummingbird
import Web
import Wire

/// Who is in a collection, for its members; who may do what, for its owner.
struct CollectionMemberRoutes: Sendable {
  let members: CollectionMemberStore
  let users: UsersClient
  let now: @Sendable () -> Date

  func add(to routes: Router<Context>) {
    let mine = routes.group(context: SignedIn.self)
    mine.get("/collections/{collection}/members", use: list)
    mine.patch("/collections/{collection}/members/{member}", use: change)
    mine.delete("/collections/{collection}/members/{member}", use: remove)
  }

  @Sendable private func list(_ request: Request, _ context: SignedIn) async throws -> Response {
    let members = try await members.members(of: context.collectionID(), seenBy: context.user)
    let people = try await users.names(of: Set(members.map(\.user)))
    return .exactJSON(
      DataBody(data: members.map { CollectionMemberBody($0, people[$0.user]) }, count: members.count))
  }

  @Sendable private func change(_ request: Request, _ context: SignedIn) async throws -> Response {
    let role = try await request.json(RoleBody.self).role
    guard role != .owner else { throw Failure.invalid(.init("role", "must be EDITOR or VIEW_ONLY")) }
    let member = try await members.change(
      context.member(), of: context.collectionID(), to: role, by: context.user, at: now())
    let people = try await users.names(of: [member.user])
    return .exactJSON(DataBody(data: CollectionMemberBody(member, people[member.user])))
  }

  @Sendable private func remove(_ request: Request, _ context: SignedIn) async throws -> Response {
    try await members.remove(context.member(), from: context.collectionID(), by: context.user, at: now())
    return Response(status: .noContent)
  }
}

private struct RoleBody: Decodable {
  let role: CollectionRole
}

extension RequestContext {
  fileprivate func member() throws -> CollectionMemberName {
    guard let name = parameters.get("member").flatMap(CollectionMemberName.init) else { throw Failure.memberNotFound }
    return name
  }
}
