import Hummingbird
import RestQueries
import RestRoutes
import Web
import Wire

/// The two forms of joining a hunt. Both answer with its row.
struct HuntJoinRoutes: Sendable {
  let joining: HuntJoining
  let requests: AdventureRequests

  func add(to routes: HTTPRoutes) {
    let signedInRoutes = routes.group(context: SignedIn.self)
    signedInRoutes.post("/rest/v1/scavenger_hunts/{hunt}/join", use: joinVisible)
    signedInRoutes.post("/rest/v1/scavenger_hunts/join", use: joinByCode)
  }

  private struct JoinBody: Decodable {
    let invite_code: String?
  }

  private struct CodeBody: Decodable {
    let invite_code: String
  }

  @Sendable private func joinVisible(_ request: Request, _ context: SignedIn) async throws -> Response {
    let code = try await request.jsonIfPresent(JoinBody.self)?.invite_code
    guard let id = context.parameters.get("hunt").flatMap({ ID<Hunt>($0) }) else { throw Failure.huntNotFound }
    return try await respond(context) { caller in
      try await requests.withCurrentGroups(caller, when: { $0 as? Failure == .huntNotFound }) { current in
        // A wrong code counts once.
        try await joining.join(id.description, code: current.groups == caller.groups ? code : nil, for: current)
      }
    }
  }

  @Sendable private func joinByCode(_ request: Request, _ context: SignedIn) async throws -> Response {
    let code = try await request.json(CodeBody.self).invite_code
    return try await respond(context) { try await joining.join(code: code, for: $0) }
  }

  private func respond(
    _ context: SignedIn, _ join: (RestQueries.Caller) async throws -> RestAnswer
  ) async throws -> Response {
    do {
      return Response(try await join(try await requests.caller(context.user, for: AdventureTables.hunts)))
    } catch let failure as RestFailure {
      return failure.response()
    }
  }
}
