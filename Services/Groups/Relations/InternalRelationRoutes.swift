import Hummingbird
import Web
import Wire

/// Tells the services in which people are named how these stand to whoever names them.
struct InternalRelationRoutes: Sendable {
  let relations: RelationStore

  func add(to routes: Router<Context>) {
    let inside = routes.group(context: ServiceCaller.self).add(middleware: Admits(["invites", "lists"]))
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
