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
    let asked = try await request.json(WhoAre.self)
    for (field, count) in [("ids", asked.ids.count), ("phones", asked.phones?.count ?? 0)] where count > WhoAre.idsMax {
      throw Failure.invalid(.init(field, "must be at most \(WhoAre.idsMax)"))
    }
    return .exactJSON(People(people: try await people.people(asked.ids, phones: asked.phones ?? [])))
  }

  @Sendable private func person(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    guard let identifier = request.uri.queryParameters["identifier"], !identifier.isEmpty else {
      throw Failure.invalid(.init("identifier", "is required"))
    }
    // Whoever only claims an address may be named by it, but is not let in by it.
    guard request.uri.queryParameters["verified"] == "true", let email = EmailAddress(String(identifier)) else {
      guard let person = try await people.person(named: String(identifier)) else { throw Failure.userNotFound }
      return .exactJSON(person)
    }
    guard let person = try await people.person(reading: email) else { throw Failure.userNotFound }
    return .exactJSON(person)
  }
}
