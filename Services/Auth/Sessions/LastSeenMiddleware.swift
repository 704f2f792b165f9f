import Foundation
import Hummingbird
import Synchronization
import Web
import Wire

/// Records when a session was last used, at most once an hour. An app with a long-lived access token does not refresh,
/// so a refresh alone would not show it.
struct LastSeenMiddleware: RouterMiddleware {
  private let sessions: SessionStore
  private let now: @Sendable () -> Date
  private let recorded = RecordedSessions()

  init(sessions: SessionStore, now: @escaping @Sendable () -> Date) {
    self.sessions = sessions
    self.now = now
  }

  /// Whether a use of the session needs no record now.
  func isRecorded(_ session: SessionID, at now: Date) -> Bool { !recorded.isDue(session, at: now, noting: false) }

  func handle(
    _ request: Request, context: Context, next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    let response = try await next(request, context)
    let now = now()
    guard case .user(_, let session?) = context.caller, recorded.isDue(session, at: now) else { return response }
    do { try await sessions.recordUse(of: session, at: now) } catch {
      // The response does not depend on it.
      context.logger.warning("session's use not noted", metadata: ["error": "\(error)"])
    }
    return response
  }
}

/// The sessions whose use this process has recorded within the last hour.
private final class RecordedSessions: Sendable {
  private let recordedAt = Mutex<[SessionID: Date]>([:])
  private static let countMax = 20_000

  /// Whether the use is to be recorded now; true once an hour for a session.
  ///
  /// - Parameter noting: whether it will be.
  func isDue(_ session: SessionID, at now: Date, noting: Bool = true) -> Bool {
    recordedAt.withLock { recordedAt in
      if let last = recordedAt[session], now.timeIntervalSince(last) < LastSeenMiddleware.intervalSeconds {
        return false
      }
      guard noting else { return true }
      if recordedAt.count >= Self.countMax {
        recordedAt = recordedAt.filter { now.timeIntervalSince($0.value) < LastSeenMiddleware.intervalSeconds }
      }
      // Still full: recording a use twice is harmless.
      if recordedAt.count < Self.countMax { recordedAt[session] = now }
      return true
    }
  }
}

extension LastSeenMiddleware {
  static let intervalSeconds = 3600.0
}

extension SessionStore {
  fileprivate func recordUse(of session: SessionID, at now: Date) async throws {
    try await database.write { db in
      try db.change(
        """
        update session set last_seen_at = \(now) where id = \(session) and ended_at is null
          and coalesce(last_seen_at, opened_at) <= \(now - LastSeenMiddleware.intervalSeconds)
        """)
    }
  }
}
