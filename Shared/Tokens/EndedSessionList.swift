import Foundation
import Synchronization
import Wire

/// The ended sessions whose access tokens have not expired yet. Every process that verifies tokens has one; its size is
/// the number of sessions that ended within one token lifetime.
package final class EndedSessionList: Sendable {
  private struct State {
    var until: [SessionID: Date] = [:]
    /// Sessions that this process has ended and that no list from auth's database has contained yet.
    var unconfirmed: Set<SessionID> = []
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
  ///
  /// - Returns: whether it had entries that no list before it had.
  @discardableResult
  package func add(_ entries: [EndedSessions.Entry], at now: Date) -> Bool {
    state.withLock { state in
      var isNew = false
      for entry in entries {
        let isConfirmed = state.unconfirmed.remove(entry.session) != nil
        let isChanged = state.until.updateValue(entry.until, forKey: entry.session) != entry.until
        isNew = isNew || isConfirmed || isChanged
      }
      state.updatedAt = max(state.updatedAt ?? now, now)
      if now.timeIntervalSince(state.sweptAt) > 60 {
        state.sweptAt = now
        state.until = state.until.filter { $0.value > now }
        state.unconfirmed.formIntersection(state.until.keys)
      }
      return isNew
    }
  }

  /// Adds a session that this process has just ended, before auth's list contains it.
  package func add(_ session: SessionID, until: Date) {
    state.withLock { state in
      state.until[session] = until
      state.unconfirmed.insert(session)
    }
  }
}
