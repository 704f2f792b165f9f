import Foundation
import Hummingbird
import Tokens
import Web
import Wire

/// Where a user is signed in, and signing out there.
struct SessionListRoutes: Sendable {
  let sessions: SessionStore
  let ended: EndedSessionList
  let now: @Sendable () -> Date

  func add(to routes: Router<Context>) {
    let mine = routes.group(context: SignedIn.self)
    mine.get("/api/v1/auth/sessions", use: list)
    mine.delete("/api/v1/auth/sessions", use: endOthers)
    mine.delete("/api/v1/auth/sessions/{id}", use: end)
  }

  @Sendable private func list(_ request: Request, _ context: SignedIn) async throws -> Response {
    let all = try await sessions.all(of: context.user, at: now())
    return .json(["sessions": all.map { SessionBody($0, isCurrent: $0.id == context.session) }])
  }

  @Sendable private func end(_ request: Request, _ context: SignedIn) async throws -> Response {
    guard let id = context.parameters.get("id").flatMap({ SessionID($0) }) else { throw Failure.sessionNotFound }
    let over = try await sessions.end(id, of: context.user, because: .ended, at: now())
    guard !over.isEmpty else { throw Failure.sessionNotFound }
    return Response(status: .noContent).ending(over, ended)
  }

  /// All but the one that asks.
  @Sendable private func endOthers(_ request: Request, _ context: SignedIn) async throws -> Response {
    let over = try await sessions.endAll(of: context.user, but: context.session, at: now())
    return Response.json(["ended": over.count]).ending(over, ended)
  }
}

private struct SessionBody: Encodable {
  let id: SessionID
  let current: Bool
  @OrNull var device: String?
  let created_at: Date
  let last_seen_at: Date
  @OrNull var ended_at: Date?
  @OrNull var end_reason: String?

  init(_ session: Session, isCurrent: Bool) {
    id = session.id
    current = isCurrent
    _device = OrNull(wrappedValue: session.device)
    created_at = session.openedAt
    last_seen_at = session.lastSeenAt
    _ended_at = OrNull(wrappedValue: session.endedAt)
    _end_reason = OrNull(wrappedValue: session.endReason)
  }
}

extension Failure {
  static let sessionNotFound = Failure(.notFound, "session_not_found", "There is no such session.")
}
