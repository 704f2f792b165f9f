import Hummingbird
import Web
import Wire

/// The endpoint by which the invites service finds the group of a code, for its page.
struct InternalGroupCodeRoutes: Sendable {
  let codes: GroupCodeStore

  func add(to routes: HTTPRoutes) {
    routes.group(context: ServiceCaller.self).add(middleware: RequiresService(["invites"]))
      .get("/internal/groups/codes/{code}", use: group)
  }

  @Sendable private func group(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    .exactJSON(try await codes.group(ofCode: context.parameters.get("code") ?? ""))
  }
}
