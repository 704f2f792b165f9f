import Hummingbird
import Web
import Wire

/// The route by which the groups service tells whose membership of a group has ended or begun. It has its name from when
/// only departures were told.
struct InternalMembershipRoutes: Sendable {
  let participations: GroupParticipations

  func add(to routes: HTTPRoutes) {
    routes.group(context: ServiceCaller.self).add(middleware: RequiresService(["groups"]))
      .post("/internal/groups/{group}/departures", use: updateMemberships)
  }

  @Sendable private func updateMemberships(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    guard let group = context.parameters.get("group").flatMap({ GroupID($0) }) else { throw Failure.groupNotFound }
    let users = try await request.json(ChangedMemberships.self).users
    guard users.count <= ChangedMemberships.usersMax else {
      throw Failure.invalid(.init("users", "must have at most \(ChangedMemberships.usersMax) ids"))
    }
    try await participations.updateMemberships(of: users, in: group)
    return Response(status: .noContent)
  }
}

extension Failure {
  fileprivate static let groupNotFound = Failure(.notFound, "group_not_found", "There is no such group.")
}
