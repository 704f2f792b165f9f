import ClientBodies
import Database
import Foundation
import Hummingbird
import Tokens
import Web
import Wire

/// Reading and deleting the signed-in user's account.
struct AccountRoutes: Sendable {
  let accounts: AccountStore
  let erasure: AccountErasure
  let ended: EndedSessionList
  let lastSeen: LastSeenMiddleware
  let now: @Sendable () -> Date

  func add(to routes: HTTPRoutes) {
    let userRoutes = routes.group(context: SignedIn.self)
    userRoutes.get("/api/v1/auth/me", use: me)
    routes.onLoop("/api/v1/auth/me", respond: activeMe)
    userRoutes.delete("/api/v1/auth/account", use: deactivate)
  }

  @Sendable private func me(_ request: Request, _ context: SignedIn) async throws -> Response {
    guard let row = try await accounts.database.row(AccountStore.ownAccountQuery(context.user)) else {
      throw Failure.sessionEnded
    }
    return .json(try ClientBodies.Account(row))
  }

  /// For a session whose use is recorded already, as no middleware runs here.
  @Sendable private func activeMe(_ request: LoopRequest) -> LoopResult? {
    guard let user = request.user, request.session.map({ lastSeen.isRecorded($0, at: now()) }) ?? true else {
      return nil
    }
    return request.result(reading: AccountStore.ownAccountQuery(user), in: accounts.database) { row in
      try row.map { try .json(ClientBodies.Account($0)) }
    }
  }

  /// The account becomes inactive at once and its tokens are revoked. Signing in again restores it until it is erased.
  @Sendable private func deactivate(_ request: Request, _ context: SignedIn) async throws -> Response {
    guard let sessions = try await erasure.request(for: context.user, at: now()) else { throw Failure.sessionEnded }
    return Response.json(["detail": "Account deactivated"]).withEndedSessions(sessions, ended)
  }
}

extension ClientBodies.Account {
  /// - Parameter row: of ``AccountStore/ownAccountQuery(_:)``.
  fileprivate init(_ row: Row) throws {
    let id: UserID = try row.get("id")
    self.init(
      id: id.description, email: try row.optional("email"), displayName: try row.optional("display_name"),
      createdAt: try row.get("created_at"))
  }
}
