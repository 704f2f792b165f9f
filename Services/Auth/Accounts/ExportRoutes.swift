import Clients
import Foundation
import Hummingbird
import Web
import Wire

/// Gathers what every service keeps about whoever asks for themselves.
struct ExportRoutes: Sendable {
  let store: ExportStore
  let others: UserDataClients

  func add(to routes: Router<Context>) {
    routes.group(context: SignedIn.self).get("/api/v1/users/me/export", use: export)
  }

  /// Complete, or not at all.
  @Sendable private func export(_ request: Request, _ context: SignedIn) async throws -> Response {
    guard let kept = try await store.everything(about: context.user) else { throw Failure.sessionEnded }
    let user = context.user
    let data = try await withThrowingTaskGroup(of: (String, JSONValue).self) { group in
      for other in others.present {
        group.addTask { (other.service.rawValue, try await other.export(user)) }
      }
      return try await group.reduce(into: [String: JSONValue]()) { $0[$1.0] = $1.1 }
    }
    var response = Response.json(ExportBody(kept, data))
    response.headers[.contentDisposition] = "attachment; filename=\"export.json\""
    return response
  }
}

private struct ExportBody: Encodable {
  let user: ExportedUser
  let identities: [ExportedIdentity]
  let sessions: [ExportedSession]
  let unlinked_identities: [ExportedUnlinked]
  let credit_history: JSONValue
  let timepoints: JSONValue
  let data: [String: JSONValue]

  init(_ kept: ExportStore.Kept, _ data: [String: JSONValue]) {
    user = kept.user
    identities = kept.identities
    sessions = kept.sessions
    unlinked_identities = kept.unlinked
    credit_history = data["credits"]?["credit_history"] ?? .array([])
    timepoints = data["timepoints"]?["timepoints"] ?? .array([])
    self.data = data
  }
}
