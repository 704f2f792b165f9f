import Database
import Foundation
import Hummingbird
import Web
import Wire

/// What credits keep about a user, and what they forget: never the ledger, which names only the bare id.
struct UserDataRoutes: Sendable {
  let database: any Database
  let store: LedgerStore

  func add(to routes: Router<Context>) {
    let inside = routes.group(context: ServiceCaller.self).add(middleware: Admits(["auth"]))
    inside.get("/internal/users/{id}/data", use: export)
    inside.delete("/internal/users/{id}/data", use: erase)
  }

  @Sendable private func export(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    let user = try context.user()
    let entries = try await store.history(of: user, limit: Int(Int32.max), offset: 0)
    return .json(["credit_history": entries.map(HistoryBody.init)])
  }

  /// Safe to repeat.
  @Sendable private func erase(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    let user = try context.user()
    try await database.write { db in try Idempotency.erase(user, on: db) }
    try await database.scrub()
    return Response(status: .noContent)
  }
}
