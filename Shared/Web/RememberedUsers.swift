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

  private let entries = Mutex<[Name: Entry]>([:])
  private let silence = Silence()
  private let ended: EndedSessionList
  private let now: @Sendable () -> Date

  package init(ended: EndedSessionList, now: @escaping @Sendable () -> Date) {
    self.ended = ended
    self.now = now
  }

  /// What `ask` says; while auth does not answer, what it said before.
  package func user(
    _ name: Name, asking ask: @escaping @Sendable () async throws -> UserID?
  ) async throws -> UserID? {
    guard let user = remembered(name) else { return try await asked(name, ask) }
    return try await silence.answer(orElse: user) { [self] in try await asked(name, ask) }
  }

  private func asked(_ name: Name, _ ask: () async throws -> UserID?) async throws -> UserID? {
    do {
      let user = try await ask()
      learn(name, user)
      return user
    } catch let failure as Failure where !failure.isOurs {
      learn(name, nil)
      throw failure
    }
  }

  private func remembered(_ name: Name) -> UserID? {
    guard let entry = entries.withLock({ $0[name] }), let heardAt = ended.heardAt,
      entry.askedAt + EndedSessions.Entry.rememberedSeconds > heardAt,
      !ended.contains(.outsideBearers(of: entry.user))
    else { return nil }
    return entry.user
  }

  private func learn(_ name: Name, _ user: UserID?) {
    let now = now()
    entries.withLock { entries in
      if entries.count >= rememberedUsersMax {
        entries = entries.filter { $0.value.askedAt + EndedSessions.Entry.rememberedSeconds > now }
      }
      if entries.count >= rememberedUsersMax { entries.removeAll() }
      entries[name] = user.map { Entry(user: $0, askedAt: now) }
    }
  }
}

// A generic type has no stored constants.
private let rememberedUsersMax = 10_000
