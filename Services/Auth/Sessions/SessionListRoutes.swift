import ClientBodies
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

  func add(to routes: HTTPRoutes) {
    let userRoutes = routes.group(context: SignedIn.self)
    userRoutes.get("/api/v1/auth/sessions", use: list)
    userRoutes.delete("/api/v1/auth/sessions", use: endOthers)
    userRoutes.delete("/api/v1/auth/sessions/{id}", use: end)
  }

  @Sendable private func list(_ request: Request, _ context: SignedIn) async throws -> Response {
    let all = try await sessions.all(of: context.user, at: now())
    return .json(SessionsAnswer(sessions: all.map { DeviceSession($0, isCurrent: $0.id == context.session) }))
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

extension DeviceSession {
  fileprivate init(_ session: Session, isCurrent: Bool) {
    self.init(
      id: session.id.description, current: isCurrent, device: session.device, createdAt: session.openedAt,
      lastSeenAt: session.lastSeenAt, endedAt: session.endedAt, endReason: session.endReason)
  }
}

extension Failure {
  static let sessionNotFound = Failure(.notFound, "session_not_found", "There is no such session.")
}
