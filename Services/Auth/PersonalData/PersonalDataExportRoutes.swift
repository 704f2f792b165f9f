import Clients
import Foundation
import Hummingbird
import Web
import Wire

/// Exports the personal data of the signed-in user from every service.
struct PersonalDataExportRoutes: Sendable {
  let store: PersonalDataStore
  let otherServices: PersonalDataClients

  func add(to routes: Router<Context>) {
    routes.group(context: SignedIn.self).offEventLoop().get("/api/v1/users/me/export", use: export)
  }

  /// Fails when any service does not answer, so that an export is never incomplete.
  @Sendable private func export(_ request: Request, _ context: SignedIn) async throws -> Response {
    guard let own = try await store.export(of: context.user) else { throw Failure.sessionEnded }
    let user = context.user
    let data = try await withThrowingTaskGroup(of: (String, JSONValue).self) { group in
      for client in otherServices.configured {
        group.addTask { (client.service.rawValue, try await client.export(user)) }
      }
      return try await group.reduce(into: [String: JSONValue]()) { $0[$1.0] = $1.1 }
    }
    var response = Response.json(ExportBody(own, data))
    response.headers[.contentDisposition] = "attachment; filename=\"export.json\""
    return response
  }
}

/// The export of all services in one document.
private struct ExportBody: Encodable {
  let user: ExportedUser
  let identities: [ExportedIdentity]
  let sessions: [ExportedSession]
  let unlinked_identities: [ExportedUnlinkedIdentity]
  let credit_history: JSONValue
  let timepoints: JSONValue
  let data: [String: JSONValue]

  init(_ own: PersonalDataExport, _ data: [String: JSONValue]) {
    user = own.user
    identities = own.identities
    sessions = own.sessions
    unlinked_identities = own.unlinked
    credit_history = data["credits"]?["credit_history"] ?? .array([])
    timepoints = data["timepoints"]?["timepoints"] ?? .array([])
    self.data = data
  }
}
