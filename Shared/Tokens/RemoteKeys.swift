import Foundation
import Synchronization

/// A key server's keys, kept as long as they are good, fetched by one caller at a time.
///
/// An unknown key id asks again, at most once in `pause`; while the server is away the last good set serves.
package actor RemoteKeys {
  private struct Known {
    var keys: [String: VerifyingKey] = [:]
    var fetchedAt: ContinuousClock.Instant?
  }

  private let fetch: @Sendable () async throws -> JWKS
  private let pause: Duration
  private let lifetime: Duration
  private let isPatient: Bool
  private let now: @Sendable () -> ContinuousClock.Instant
  private nonisolated let known = Mutex(Known())
  private nonisolated let withdrawn = Atomic(0)
  private var triedAt: ContinuousClock.Instant?
  private var underWay: Task<Void, any Error>?

  /// - Parameters:
  ///   - pause: the least time between two fetches for ids that are not there.
  ///   - lifetime: after this time a known key is looked up again, so that one that was withdrawn goes.
  ///   - isPatient: who asks for an unknown id within the pause waits for its end instead of being refused. For servers
  ///     of our own, which publish a key at the moment when they begin to use it, and may have none at all.
  package init(
    pause: Duration = .seconds(60), lifetime: Duration = .seconds(3600), isPatient: Bool = false,
    now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
    fetch: @escaping @Sendable () async throws -> JWKS
  ) {
    self.now = now
    self.pause = pause
    self.lifetime = lifetime
    self.isPatient = isPatient
    self.fetch = fetch
  }

  /// Changes whenever a key is gone, so that whoever remembers verdicts can forget them.
  package nonisolated var withdrawals: Int { withdrawn.load(ordering: .acquiring) }

  /// Looks again every so often while there are keys, until it is cancelled: one that is withdrawn is gone by then.
  package func watch(every interval: Duration) async {
    while !Task.isCancelled {
      if known.withLock({ !$0.keys.isEmpty }) {
        // `try?`: while the server is away the last good set serves.
        try? await refresh()
      }
      // `try?`: cancelled means stop.
      try? await Task.sleep(for: interval)
    }
  }

  /// A key that was fetched within the lifetime, without waiting.
  package nonisolated func keyAtHand(_ id: String) -> VerifyingKey? {
    known.withLock { known in
      known.fetchedAt.map { now() - $0 <= lifetime } == true ? known.keys[id] : nil
    }
  }

  /// - Throws: ``TokenRejected/unknownKey`` when the server does not have it; the fetch's own error when no set was
  ///   ever fetched.
  package func key(_ id: String) async throws -> VerifyingKey {
    if let key = keyAtHand(id) { return key }
    if isPatient, !mayFetch, let triedAt { try await Task.sleep(for: max(pause - (now() - triedAt), .zero)) }
    if mayFetch {
      do { try await refresh() } catch  where fetchedAt != nil {
        // The last good set serves on; the next caller after `pause` tries again.
      }
    } else if fetchedAt == nil {
      throw KeysUnavailable()
    }
    guard let key = known.withLock({ $0.keys[id] }) else { throw TokenRejected.unknownKey }
    return key
  }

  private var fetchedAt: ContinuousClock.Instant? { known.withLock { $0.fetchedAt } }

  private var mayFetch: Bool { underWay != nil || triedAt.map { now() - $0 >= pause } ?? true || neverFetched }

  /// Before the first success a second is enough: nobody can sign in until it comes.
  private var neverFetched: Bool { fetchedAt == nil && (triedAt.map { now() - $0 >= .seconds(1) } ?? true) }

  private func refresh() async throws {
    if let underWay {
      return try await underWay.value
    }
    triedAt = now()
    // A task of its own: a caller that is cancelled does not take the fetch away from the others.
    let task = Task {
      let fetched = try await fetch().byID
      guard isPatient || !fetched.isEmpty else { throw KeysUnavailable() }
      take(fetched)
    }
    underWay = task
    defer { underWay = nil }
    do { try await task.value } catch {
      serveOn()
      throw error
    }
  }

  /// Lets the last good set serve a little longer, so that nobody waits for a server that is away.
  private func serveOn() {
    known.withLock { known in
      guard let fetchedAt = known.fetchedAt else { return }
      known.fetchedAt = max(fetchedAt, now() - lifetime + min(lifetime, Self.grace))
    }
  }

  /// Longer than a fetch may take.
  private static let grace = Duration.seconds(15)

  private func take(_ fetched: [String: VerifyingKey]) {
    let before = known.withLock { known in
      defer { known = Known(keys: fetched, fetchedAt: now()) }
      return known.keys
    }
    let isOneGone = before.contains { id, key in fetched[id]?.isSame(as: key) != true }
    if isOneGone { withdrawn.add(1, ordering: .releasing) }
  }
}

/// The key server has not answered with a single usable key yet.
package struct KeysUnavailable: Error {
  package init() {}
}
