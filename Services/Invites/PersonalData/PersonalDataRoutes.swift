import Foundation
import Hummingbird
import Web
import Wire

/// Export and erasure, for the service that has the accounts.
struct PersonalDataRoutes: Sendable {
  let data: PersonalDataStore
  let now: @Sendable () -> Date

  func add(to routes: Router<Context>) {
    let inside = routes.group(context: ServiceCaller.self).add(middleware: Admits(["auth"]))
    inside.get("/internal/users/{user}/data", use: export)
    inside.delete("/internal/users/{user}/data", use: erase)
  }

  @Sendable private func export(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    .exactJSON(try await data.export(of: try context.user("user")))
  }

  /// Of a user who is not known here, everything is forgotten already.
  @Sendable private func erase(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    try await data.erase(try context.user("user"), at: now())
    return Response(status: .noContent)
  }
}
