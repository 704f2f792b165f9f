import Foundation
import Hummingbird
import Synchronization
import Web
import Wire

/// Notes when a session was last used here, at most once an hour: an app whose token lives for long asks for no other.
struct LastSeen: RouterMiddleware {
  private let sessions: SessionStore
  private let now: @Sendable () -> Date
  private let noted = Noted()

  init(sessions: SessionStore, now: @escaping @Sendable () -> Date) {
    self.sessions = sessions
    self.now = now
  }

  func handle(
    _ request: Request, context: Context, next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    let response = try await next(request, context)
    let now = now()
    guard case .user(_, let session?) = context.caller, noted.isDue(session, at: now) else { return response }
    do { try await sessions.seen(session, at: now) } catch {
      // Nobody should go without an answer for it.
      context.logger.warning("session's use not noted", metadata: ["error": "\(error)"])
    }
    return response
  }
}

/// The sessions of which this process has noted within the hour that they were used.
private final class Noted: Sendable {
  private let at = Mutex<[SessionID: Date]>([:])
  private static let most = 20_000

  /// Whether it is to be noted now; says so once an hour.
  func isDue(_ session: SessionID, at now: Date) -> Bool {
    at.withLock { at in
      if let before = at[session], now.timeIntervalSince(before) < LastSeen.pauseSeconds { return false }
      if at.count >= Self.most { at = at.filter { now.timeIntervalSince($0.value) < LastSeen.pauseSeconds } }
      // Still full: what is noted twice does no harm.
      if at.count < Self.most { at[session] = now }
      return true
    }
  }
}

extension LastSeen {
  static let pauseSeconds = 3600.0
}

extension SessionStore {
  fileprivate func seen(_ session: SessionID, at now: Date) async throws {
    try await database.write { db in
      try db.change(
        """
        update session set last_seen_at = \(now) where id = \(session) and ended_at is null
          and coalesce(last_seen_at, opened_at) <= \(now - LastSeen.pauseSeconds)
        """)
    }
  }
}
