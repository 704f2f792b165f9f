import Database
import Foundation
import Hummingbird
import Wire

/// What a service knows of its users, to be handed out or forgotten.
package protocol KeepsPersonalData: Sendable {
  associatedtype Document: Encodable & Sendable

  var database: any Database { get }

  /// Everything that is known of a user, empty for one of whom nothing is.
  func export(of user: UserID) async throws -> Document

  /// Safe to repeat, also after it has stopped half-way: every step takes away what is then not there.
  func erase(_ user: UserID, at now: Date) async throws
}

/// Export and erasure, for the service that has the accounts.
package struct PersonalDataRoutes<Store: KeepsPersonalData>: Sendable {
  private let store: Store
  private let now: @Sendable () -> Date

  package init(_ store: Store, now: @escaping @Sendable () -> Date) {
    self.store = store
    self.now = now
  }

  package func add(to routes: Router<Context>) {
    let inside = routes.group(context: ServiceCaller.self).add(middleware: Admits(["auth"]))
    inside.get("/internal/users/{id}/data", use: export)
    inside.delete("/internal/users/{id}/data", use: erase)
  }

  /// With whole seconds, as its user reads it.
  @Sendable private func export(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    .json(try await store.export(of: try context.user()))
  }

  /// Of a user who is not known here, everything is forgotten already.
  @Sendable private func erase(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    try await store.erase(try context.user(), at: now())
    try await store.database.scrub()
    return Response(status: .noContent)
  }
}
