import Hummingbird
import Web
import Wire

/// Tells other services who people are.
struct PeopleRoutes: Sendable {
  let people: PeopleStore

  func add(to routes: Router<Context>) {
    let inside = routes.group(context: ServiceCaller.self).add(middleware: Admits(["invites", "groups", "lists"]))
    inside.post("/internal/users/people", use: people)
    inside.get("/internal/users/person", use: person)
  }

  @Sendable private func people(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    let ids = try await request.json(WhoAre.self).ids
    guard ids.count <= WhoAre.idsMax else {
      throw Failure.invalid(.init("ids", "must be at most \(WhoAre.idsMax)"))
    }
    return .exactJSON(People(people: try await people.people(ids)))
  }

  @Sendable private func person(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    guard let identifier = request.uri.queryParameters["identifier"], !identifier.isEmpty else {
      throw Failure.invalid(.init("identifier", "is required"))
    }
    guard let person = try await people.person(named: String(identifier)) else { throw Failure.userNotFound }
    return .exactJSON(person)
  }
}
