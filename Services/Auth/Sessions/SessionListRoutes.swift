import Foundation
import Hummingbird
import Tokens
import Web
import Wire

/// The user's list of sessions, and ending them.
struct SessionListRoutes: Sendable {
  let sessions: SessionStore
  let ended: EndedSessionList
  let now: @Sendable () -> Date

  func add(to routes: Router<Context>) {
    let userRoutes = routes.group(context: SignedIn.self)
    userRoutes.get("/api/v1/auth/sessions", use: list)
    userRoutes.delete("/api/v1/auth/sessions", use: endOthers)
    userRoutes.delete("/api/v1/auth/sessions/{id}", use: end)
  }

  @Sendable private func list(_ request: Request, _ context: SignedIn) async throws -> Response {
    let all = try await sessions.all(of: context.user, at: now())
    return .json(["sessions": all.map { SessionBody($0, isCurrent: $0.id == context.session) }])
  }

  @Sendable private func end(_ request: Request, _ context: SignedIn) async throws -> Response {
    guard let id = context.parameters.get("id").flatMap({ SessionID($0) }) else { throw Failure.sessionNotFound }
    let endedSessions = try await sessions.end(id, of: context.user, reason: .ended, at: now())
    guard !endedSessions.isEmpty else { throw Failure.sessionNotFound }
    return Response(status: .noContent).withEndedSessions(endedSessions, ended)
  }

  /// Ends all sessions but the one of the request.
  @Sendable private func endOthers(_ request: Request, _ context: SignedIn) async throws -> Response {
    let endedSessions = try await sessions.endAll(of: context.user, except: context.session, at: now())
    return Response.json(["ended": endedSessions.count]).withEndedSessions(endedSessions, ended)
  }
}

private struct SessionBody: Encodable {
  let id: SessionID
  let current: Bool
  @NullCodable var device: String?
  let created_at: Date
  let last_seen_at: Date
  @NullCodable var ended_at: Date?
  @NullCodable var end_reason: String?

  init(_ session: Session, isCurrent: Bool) {
    id = session.id
    current = isCurrent
    _device = NullCodable(wrappedValue: session.device)
    created_at = session.openedAt
    last_seen_at = session.lastSeenAt
    _ended_at = NullCodable(wrappedValue: session.endedAt)
    _end_reason = NullCodable(wrappedValue: session.endReason)
  }
}

extension Failure {
  static let sessionNotFound = Failure(.notFound, "session_not_found", "There is no such session.")
}
