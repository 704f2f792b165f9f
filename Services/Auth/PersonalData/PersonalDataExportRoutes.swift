import Clients
import Hummingbird
import Web
import Wire

/// Exports the personal data of the signed-in user from every service.
struct PersonalDataExportRoutes: Sendable {
  let store: PersonalDataStore
  let otherServices: PersonalDataClients

  func add(to routes: HTTPRoutes) {
    routes.group(context: SignedIn.self).offEventLoop().get("/api/v1/users/me/export", use: export)
  }

  /// Fails when any service does not answer, so that an export is never incomplete.
  @Sendable private func export(_ request: Request, _ context: SignedIn) async throws -> Response {
    guard let own = try await store.export(of: context.user) else { throw Failure.sessionEnded }
    let user = context.user
    let others = try await withThrowingTaskGroup(of: ExportedData.self) { group in
      for client in otherServices.configured { group.addTask { try await client.export(user) } }
      return try await group.reduce(into: [ExportedData]()) { $0.append($1) }
    }
    return try await ExportDocument(own, others).response(context.logger)
  }
}
