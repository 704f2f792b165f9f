import Hummingbird
import Web
import Wire

/// The endpoint by which services whose users name other users query the relations between them.
struct InternalRelationRoutes: Sendable {
  let relations: RelationStore

  func add(to routes: HTTPRoutes) {
    let inside = routes.group(context: ServiceCaller.self)
      .add(middleware: RequiresService(["adventures", "invites", "lists"]))
    inside.post("/internal/groups/relations", use: show)
  }

  @Sendable private func show(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    let query = try await request.json(RelationsQuery.self)
    guard query.others.count <= RelationsQuery.othersMax else {
      throw Failure.invalid(.init("others", "must have at most \(RelationsQuery.othersMax) ids"))
    }
    return .exactJSON(try await relations.relations(of: query.user, to: Set(query.others)))
  }
}
