import Foundation
import Hummingbird
import Web
import Wire

/// Deletes files with the rows of other services that named them.
struct InternalStoredObjectRoutes: Sendable {
  let store: StoredObjectStore
  let now: @Sendable () -> Date

  func add(to routes: HTTPRoutes) {
    routes.group(context: ServiceCaller.self).add(middleware: RequiresService(["adventures", "auth"]))
      .post("/internal/storage/delete", use: delete)
  }

  @Sendable private func delete(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    let body = try await request.json(StoredObjectDeletion.self, bytesMax: 512 * 1024)
    guard body.names.count <= StoredObjectDeletion.namesMax else {
      throw Failure.invalid(.init("names", "must have at most \(StoredObjectDeletion.namesMax) names"))
    }
    let deleted = try await store.delete(body.names, of: body.owner, at: now())
    return .exactJSON(DeletedObjects(deleted: deleted.count))
  }
}
