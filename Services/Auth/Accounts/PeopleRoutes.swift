import Hummingbird
import Web
import Wire

/// Names and contact data of users, for other services.
struct PeopleRoutes: Sendable {
  let people: PeopleStore

  func add(to routes: HTTPRoutes) {
    let callers: Set = ["adventures", "invites", "groups", "lists"]
    // Events needs the names and languages of those whom it notifies.
    routes.group(context: ServiceCaller.self).add(middleware: RequiresService(callers.union(["events"])))
      .offEventLoop().post("/internal/users/people", use: people)
    routes.group(context: ServiceCaller.self).add(middleware: RequiresService(callers))
      .get("/internal/users/person", use: person)
  }

  @Sendable private func people(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    let query = try await request.json(PeopleQuery.self)
    for (field, count) in [("ids", query.ids.count), ("phones", query.phones?.count ?? 0)]
    where count > PeopleQuery.idsMax {
      throw Failure.invalid(.init(field, "must be at most \(PeopleQuery.idsMax)"))
    }
    return .exactJSON(People(people: try await people.people(query.ids, phones: query.phones ?? [])))
  }

  @Sendable private func person(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    guard let identifier = request.uri.queryParameters["identifier"], !identifier.isEmpty else {
      throw Failure.invalid(.init("identifier", "is required"))
    }
    guard let person = try await people.person(named: String(identifier)) else { throw Failure.userNotFound }
    return .exactJSON(person)
  }
}
