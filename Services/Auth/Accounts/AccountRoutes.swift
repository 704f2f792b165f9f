import Foundation
import Hummingbird
import Tokens
import Web
import Wire

/// A user's own account.
struct AccountRoutes: Sendable {
  let accounts: AccountStore
  let erasures: Erasures
  let ended: EndedSessionList
  let now: @Sendable () -> Date

  func add(to routes: Router<Context>) {
    let mine = routes.group(context: SignedIn.self)
    mine.get("/api/v1/auth/me", use: me)
    mine.delete("/api/v1/auth/account", use: deactivate)
  }

  @Sendable private func me(_ request: Request, _ context: SignedIn) async throws -> Response {
    guard let account = try await accounts.active(context.user) else { throw Failure.sessionEnded }
    return .json(UserBody(account))
  }

  /// Inactive at once, every token worthless. Signing in again brings the account back until it is erased.
  @Sendable private func deactivate(_ request: Request, _ context: SignedIn) async throws -> Response {
    guard let sessions = try await erasures.ask(for: context.user, at: now()) else { throw Failure.sessionEnded }
    return Response.json(["detail": "Account deactivated"]).ending(sessions, ended)
  }
}
