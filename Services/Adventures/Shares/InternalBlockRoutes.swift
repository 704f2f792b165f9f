import Hummingbird
import Web
import Wire

/// The route by which the groups service tells that somebody has blocked somebody, or does so no longer.
struct InternalBlockRoutes: Sendable {
  let blocks: ShareBlocks

  func add(to routes: HTTPRoutes) {
    routes.group(context: ServiceCaller.self).add(middleware: RequiresService(["groups"]))
      .post("/internal/adventures/blocks", use: update)
  }

  @Sendable private func update(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    let changed = try await request.json(ChangedBlock.self)
    guard changed.one != changed.other else { throw Failure.invalid(.init("other", "must be another user")) }
    try await blocks.update(between: changed.one, and: changed.other)
    return Response(status: .noContent)
  }
}
