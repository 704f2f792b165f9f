import Foundation
import Synchronization
import Web
import Wire

/// Caches people in the memory of one process, so that they are still shown while auth does not answer.
package final class PeopleCache: Sendable {
  private struct Entry {
    /// nil for a user that auth does not return: unknown, deactivated or erased.
    let person: Person?
    var expiresAt: Date
  }

  private let entries = Mutex(TwoGenerations<Entry>())
  private let breaker = CircuitBreaker()
  private let generationLifetime: Duration?
  private let now: @Sendable () -> Date
  private let placeholder: @Sendable (UserID) -> Person?
  private let fetchFromAuth: @Sendable (Set<UserID>) async throws -> [UserID: Person]
  private static let lifetimeSeconds = 60.0
  /// By how much entries are extended while auth does not answer.
  private static let extensionSeconds = 5.0

  /// - Parameters:
  ///   - generationLifetime: after which entries are evicted that were not fetched again meanwhile; nil to evict them
  ///     only when the cache is full.
  ///   - placeholder: returned for a user without an entry while auth does not answer; nil to leave the user out.
  package init(
    generationLifetime: Duration? = nil, now: @escaping @Sendable () -> Date,
    placeholder: @escaping @Sendable (UserID) -> Person? = { _ in nil },
    fetch: @escaping @Sendable (Set<UserID>) async throws -> [UserID: Person]
  ) {
    self.generationLifetime = generationLifetime
    self.now = now
    self.placeholder = placeholder
    self.fetchFromAuth = fetch
  }

  /// The users in `ids` that exist and whose entries have not expired, and the ids of those to fetch.
  package func unexpired(_ ids: Set<UserID>) -> (people: [UserID: Person], missing: Set<UserID>) {
    let now = now()
    return entries.withLock { entries in
      var (people, missing) = ([UserID: Person](), Set<UserID>())
      for id in ids {
        guard let entry = entries[id], entry.expiresAt > now else {
          missing.insert(id)
          continue
        }
        people[id] = entry.person
      }
      return (people, missing)
    }
  }

  /// Fetches users from auth, in one call, and caches them. While auth does not answer, expired entries are used and
  /// extended.
  @discardableResult
  package func fetch(_ ids: Set<UserID>) async throws -> [UserID: Person] {
    try await breaker.call(fallback: extendEntries(of: ids)) { [self] in
      let people = try await fetchFromAuth(ids)
      store(people, for: ids)
      return people
    }
  }

  private func store(_ people: [UserID: Person], for ids: Set<UserID>) {
    let expiresAt = now() + Self.lifetimeSeconds
    entries.withLock { entries in
      if let generationLifetime { entries.discardOld(after: generationLifetime) }
      for id in ids { entries.store(Entry(person: people[id], expiresAt: expiresAt), for: id) }
    }
  }

  private func extendEntries(of ids: Set<UserID>) -> [UserID: Person] {
    let expiresAt = now() + Self.extensionSeconds
    return entries.withLock { entries in
      ids.reduce(into: [:]) { people, id in
        let unknown = placeholder(id).map { Entry(person: $0, expiresAt: expiresAt) }
        guard var entry = entries[id] ?? unknown else { return }
        entry.expiresAt = expiresAt
        // In place: an outage must not evict the people that it is there for.
        entries.update(entry, for: id)
        people[id] = entry.person
      }
    }
  }
}

/// Entries by user in two generations, of which the older is discarded when the younger is full or has ended.
private struct TwoGenerations<Entry> {
  private var young: [UserID: Entry] = [:]
  private var old: [UserID: Entry] = [:]
  private var youngSince = ContinuousClock.now
  /// Of each generation.
  private let entriesMax = 10_000

  subscript(id: UserID) -> Entry? { young[id] ?? old[id] }

  mutating func store(_ entry: Entry, for id: UserID) {
    if young.count >= entriesMax, young[id] == nil { discardOld() }
    old[id] = nil
    young[id] = entry
  }

  /// Replaces an entry in its own generation; stores one that is not there.
  mutating func update(_ entry: Entry, for id: UserID) {
    guard young[id] == nil, old[id] != nil else { return store(entry, for: id) }
    old[id] = entry
  }

  mutating func discardOld(after lifetime: Duration) {
    if ContinuousClock.now - youngSince > lifetime { discardOld() }
  }

  private mutating func discardOld() { (old, young, youngSince) = (young, [:], .now) }
}
