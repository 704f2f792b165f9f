import Database
import Foundation
import Hummingbird
import Web
import Wire

/// What lists keep about a user, and that they forget it.
struct UserDataRoutes: Sendable {
  let database: any Database
  let now: @Sendable () -> Date

  func add(to routes: Router<Context>) {
    let inside = routes.group(context: ServiceCaller.self).add(middleware: Admits(["auth"]))
    inside.get("/internal/users/{id}/data", use: export)
    inside.delete("/internal/users/{id}/data", use: erase)
  }

  @Sendable private func export(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    let user = try context.user()
    return .exactJSON(try await database.read { db in try Export(of: user, on: db) })
  }

  /// Safe to repeat. One list at a time, so that nobody waits long for those that stay.
  @Sendable private func erase(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    let (user, now) = (try context.user(), now())
    while try await database.write({ db in try Erasure.forgetNextOwnedList(of: user, at: now, on: db) }) {}
    while try await database.write({ db in try Erasure.leaveNextList(user, on: db) }) {}
    try await database.write { db in try Erasure.forgetTheRest(of: user, on: db) }
    try await database.scrub()
    return Response(status: .noContent)
  }
}
