import Database
import Foundation
import Hummingbird
import Wire

/// A store that exports and deletes everything that a service keeps about a user.
package protocol PersonalDataStoring: Sendable {
  associatedtype Export: Sendable

  var database: any Database { get }

  /// Everything that the service keeps about a user; an empty export for an unknown user.
  func export(of user: UserID) async throws -> Export

  /// The answer of the route. An export that is `Encodable` is answered whole.
  func response(with export: Export) async throws -> Response

  /// Deletes everything that the service keeps about a user. Safe to repeat, also after it was interrupted.
  func erase(_ user: UserID, at now: Date) async throws
}

extension PersonalDataStoring where Export: Encodable {
  /// Times have whole seconds, as the document is for the user.
  package func response(with export: Export) -> Response { .json(export) }
}

/// The internal routes by which auth exports and erases a user's data in another service.
package struct PersonalDataRoutes<Store: PersonalDataStoring>: Sendable {
  private let store: Store
  private let now: @Sendable () -> Date

  package init(_ store: Store, now: @escaping @Sendable () -> Date) {
    self.store = store
    self.now = now
  }

  package func add(to routes: HTTPRoutes) {
    let inside = routes.group(context: ServiceCaller.self).add(middleware: RequiresService(["auth"]))
    inside.offEventLoop().get("/internal/users/{id}/data", use: export)
    inside.delete("/internal/users/{id}/data", use: erase)
  }

  @Sendable private func export(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    try await store.response(with: try await store.export(of: try context.user()))
  }

  /// Succeeds for an unknown user as well.
  @Sendable private func erase(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    try await store.erase(try context.user(), at: now())
    try await store.database.truncateWriteAheadLog()
    return Response(status: .noContent)
  }
}
