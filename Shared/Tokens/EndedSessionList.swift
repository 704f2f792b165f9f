import Foundation
import Synchronization
import Wire

/// The sessions that have ended while access tokens of theirs could still live. Every process that believes tokens has
/// one; it is as long as the ended sessions of one token's lifetime.
package final class EndedSessionList: Sendable {
  private struct State {
    var until: [SessionID: Date] = [:]
    var heardAt: Date?
    var sweptAt = Date.distantPast
  }

  private let state = Mutex(State())

  package init() {}

  /// False until auth has been heard for the first time.
  package var isKnown: Bool { heardAt != nil }

  /// When auth was last heard; what it has not said by then is not known.
  package var heardAt: Date? { state.withLock { $0.heardAt } }

  package func contains(_ session: SessionID) -> Bool { state.withLock { $0.until[session] != nil } }

  /// Takes over what auth has published. Safe to repeat, in any order.
  package func add(_ entries: [EndedSessions.Entry], at now: Date) {
    state.withLock { state in
      for entry in entries { state.until[entry.session] = entry.until }
      state.heardAt = max(state.heardAt ?? now, now)
      guard now.timeIntervalSince(state.sweptAt) > 60 else { return }
      state.sweptAt = now
      state.until = state.until.filter { $0.value > now }
    }
  }

  /// A session that this process has just seen end, before auth's list tells.
  package func add(_ session: SessionID, until: Date) { state.withLock { $0.until[session] = until } }
}
