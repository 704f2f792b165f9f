import Foundation
import Synchronization
import Tokens
import Wire

/// Whom auth has named before, for the time when it does not answer: then nobody has heard otherwise either.
///
/// An answer is good for ten minutes after it was given, and no time passes from when auth was last heard on. A
/// deactivation stands among the ended sessions for longer than that, so it is never missed.
package final class RememberedUsers<Name: Hashable & Sendable>: Sendable {
  private struct Entry {
    let user: UserID
    let askedAt: Date
  }

  private struct State {
    var entries: [Name: Entry] = [:]
    /// After it did not answer, auth is not asked again at once.
    var silentUntil: ContinuousClock.Instant?
  }

  private let state = Mutex(State())
  private let ended: EndedSessionList
  private let now: @Sendable () -> Date

  package init(ended: EndedSessionList, now: @escaping @Sendable () -> Date) {
    self.ended = ended
    self.now = now
  }

  /// What `ask` says; while auth does not answer, what it said before.
  package func user(_ name: Name, asking ask: () async throws -> UserID?) async throws -> UserID? {
    if isSilent, let user = remembered(name) { return user }
    do {
      let user = try await ask()
      learn(name, user)
      return user
    } catch let failure as Failure {
      guard failure.isOurs else {
        learn(name, nil)
        throw failure
      }
      guard let user = remembered(name) else { throw failure }
      state.withLock { $0.silentUntil = ContinuousClock.now + rememberedUsersPause }
      return user
    }
  }

  private var isSilent: Bool { state.withLock { $0.silentUntil.map { ContinuousClock.now < $0 } ?? false } }

  private func remembered(_ name: Name) -> UserID? {
    guard let entry = state.withLock({ $0.entries[name] }), let heardAt = ended.heardAt,
      entry.askedAt + EndedSessions.Entry.rememberedSeconds > heardAt,
      !ended.contains(.outsideBearers(of: entry.user))
    else { return nil }
    return entry.user
  }

  private func learn(_ name: Name, _ user: UserID?) {
    let now = now()
    state.withLock { state in
      if state.entries.count >= rememberedUsersMax {
        state.entries = state.entries.filter { $0.value.askedAt + EndedSessions.Entry.rememberedSeconds > now }
      }
      if state.entries.count >= rememberedUsersMax { state.entries.removeAll() }
      state.entries[name] = user.map { Entry(user: $0, askedAt: now) }
      state.silentUntil = nil
    }
  }
}

// A generic type has no stored constants.
private let rememberedUsersMax = 10_000
private let rememberedUsersPause = Duration.seconds(2)
