import Foundation
import Synchronization
import Wire

/// The ended sessions whose access tokens have not expired yet. Every process that verifies tokens has one; its size is
/// the number of sessions that ended within one token lifetime.
package final class EndedSessionList: Sendable {
  private struct State {
    var until: [SessionID: Date] = [:]
    var updatedAt: Date?
    var sweptAt = Date.distantPast
  }

  private let state = Mutex(State())

  package init() {}

  /// False until the first list from auth has arrived.
  package var isLoaded: Bool { updatedAt != nil }

  /// When the last list from auth arrived. Sessions that ended later may be missing.
  package var updatedAt: Date? { state.withLock { $0.updatedAt } }

  package func contains(_ session: SessionID) -> Bool { state.withLock { $0.until[session] != nil } }

  /// Adds a list from auth. Safe to repeat, in any order.
  package func add(_ entries: [EndedSessions.Entry], at now: Date) {
    state.withLock { state in
      for entry in entries { state.until[entry.session] = entry.until }
      state.updatedAt = max(state.updatedAt ?? now, now)
      guard now.timeIntervalSince(state.sweptAt) > 60 else { return }
      state.sweptAt = now
      state.until = state.until.filter { $0.value > now }
    }
  }

  /// Adds a session that this process has just ended, before auth's list contains it.
  package func add(_ session: SessionID, until: Date) { state.withLock { $0.until[session] = until } }
}
