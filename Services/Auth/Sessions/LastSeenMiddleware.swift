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
  func isRecorded(_ session: SessionID, at now: Date) -> Bool { recorded.contains(session, at: now) }

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

  func contains(_ session: SessionID, at now: Date) -> Bool {
    Self.isRecent(recordedAt.withLock { $0[session] }, at: now)
  }

  private static func isRecent(_ recorded: Date?, at now: Date) -> Bool {
    recorded.map { now.timeIntervalSince($0) < LastSeenMiddleware.intervalSeconds } ?? false
  }

  /// Whether the use is to be recorded now; true once an hour for a session.
  func isDue(_ session: SessionID, at now: Date) -> Bool {
    recordedAt.withLock { recordedAt in
      guard !Self.isRecent(recordedAt[session], at: now) else { return false }
      if recordedAt.count >= Self.countMax {
        recordedAt = recordedAt.filter { Self.isRecent($0.value, at: now) }
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
