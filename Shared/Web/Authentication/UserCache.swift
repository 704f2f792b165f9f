import Foundation
import Synchronization
import Tokens
import Wire

/// Users that auth has resolved before, used while auth does not answer.
///
/// An entry is valid for ten minutes, measured up to the last update of the ended sessions: during an outage of auth it
/// does not age. A deactivation stays among the ended sessions for longer than that, so it is never missed.
package final class UserCache<Name: Hashable & Sendable>: Sendable {
  private struct Entry {
    let user: UserID
    let fetchedAt: Date
  }

  private let entries = Mutex<[Name: Entry]>([:])
  private let breaker = CircuitBreaker()
  private let ended: EndedSessionList
  private let now: @Sendable () -> Date

  package init(ended: EndedSessionList, now: @escaping @Sendable () -> Date) {
    self.ended = ended
    self.now = now
  }

  /// The result of `fetch`; while auth does not answer, the cached one.
  ///
  /// - Throws: what `fetch` throws, but for server faults while there is a valid entry.
  package func user(
    _ name: Name, fetch: @escaping @Sendable () async throws -> UserID?
  ) async throws -> UserID? {
    guard let user = cached(name) else { return try await fetched(name, fetch) }
    return try await breaker.call(fallback: user) { [self] in try await fetched(name, fetch) }
  }

  private func fetched(_ name: Name, _ fetch: () async throws -> UserID?) async throws -> UserID? {
    do {
      let user = try await fetch()
      store(name, user)
      return user
    } catch let failure as Failure where !failure.isServerFault {
      store(name, nil)
      throw failure
    }
  }

  private func cached(_ name: Name) -> UserID? {
    guard let entry = entries.withLock({ $0[name] }), let updatedAt = ended.updatedAt,
      entry.fetchedAt + EndedSessions.Entry.cachedSeconds > updatedAt,
      !ended.contains(.externalTokens(of: entry.user))
    else { return nil }
    return entry.user
  }

  private func store(_ name: Name, _ user: UserID?) {
    let now = now()
    entries.withLock { entries in
      if entries.count >= cachedUsersMax {
        entries = entries.filter { $0.value.fetchedAt + EndedSessions.Entry.cachedSeconds > now }
      }
      if entries.count >= cachedUsersMax { entries.removeAll() }
      entries[name] = user.map { Entry(user: $0, fetchedAt: now) }
    }
  }
}

// A generic type cannot have static stored properties.
private let cachedUsersMax = 10_000
