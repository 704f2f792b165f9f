import Foundation
import Synchronization

/// The key set of a key server, cached for its lifetime. Concurrent callers share one fetch.
///
/// An unknown key id fetches the set again, at most once per `refetchInterval`. While the server does not answer, the
/// last good set is used.
package actor RemoteJWKS {
  private struct Cache {
    var keys: [String: VerifyingKey] = [:]
    var fetchedAt: ContinuousClock.Instant?
  }

  private let fetch: @Sendable () async throws -> JWKS
  private let refetchInterval: Duration
  private let lifetime: Duration
  private let waitsForUnknownKeys: Bool
  private let now: @Sendable () -> ContinuousClock.Instant
  private nonisolated let cache = Mutex(Cache())
  private nonisolated let removalCount = Atomic(0)
  /// Receives an element when a set with keys was fetched.
  private nonisolated let fetchedKeys = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
  private var attemptedAt: ContinuousClock.Instant?
  private var fetchInFlight: Task<Void, any Error>?

  /// - Parameters:
  ///   - refetchInterval: the minimum time between two fetches for unknown ids.
  ///   - lifetime: after this time the set is fetched again, so that removed keys are no longer accepted.
  ///   - waitsForUnknownKeys: whether a lookup of an unknown id waits for the next fetch instead of failing. For auth's
  ///     own key servers, which publish a key at the moment they begin to use it, and may have no keys at all.
  package init(
    refetchInterval: Duration = .seconds(60), lifetime: Duration = .seconds(3600), waitsForUnknownKeys: Bool = false,
    now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
    fetch: @escaping @Sendable () async throws -> JWKS
  ) {
    self.now = now
    self.refetchInterval = refetchInterval
    self.lifetime = lifetime
    self.waitsForUnknownKeys = waitsForUnknownKeys
    self.fetch = fetch
  }

  /// Changes whenever a key was removed, so that cached results can be discarded.
  package nonisolated var removals: Int { removalCount.load(ordering: .acquiring) }

  /// Fetches the set periodically while it has keys, until it is cancelled, so that removed keys are noticed soon. To be
  /// called once.
  package func refresh(every interval: Duration) async {
    // Not `repeatUntilCancelled`: the module Web, which has it, depends on this one.
    while !Task.isCancelled {
      if cache.withLock({ $0.keys.isEmpty }) {
        for await _ in fetchedKeys.stream { break }
      } else {
        // `try?`: while the server does not answer, the last good set is used.
        try? await refresh()
      }
      // `try?`: a cancelled sleep ends the loop.
      try? await Task.sleep(for: interval)
    }
  }

  /// A key that was fetched within the lifetime, without waiting.
  package nonisolated func cachedKey(_ id: String) -> VerifyingKey? {
    cache.withLock { cache in
      cache.fetchedAt.map { now() - $0 <= lifetime } == true ? cache.keys[id] : nil
    }
  }

  /// - Throws: ``TokenRejected/unknownKey`` when the server does not have the key; the error of the fetch when no set
  ///   was ever fetched.
  package func key(_ id: String) async throws -> VerifyingKey {
    if let key = cachedKey(id) { return key }
    if waitsForUnknownKeys, !mayFetch, let attemptedAt {
      try await Task.sleep(for: max(refetchInterval - (now() - attemptedAt), .zero))
    }
    if mayFetch {
      do { try await refresh() } catch  where fetchedAt != nil {
        // The last good set is used; the first caller after `refetchInterval` tries again.
      }
    } else if fetchedAt == nil {
      throw KeysUnavailable()
    }
    guard let key = cache.withLock({ $0.keys[id] }) else { throw TokenRejected.unknownKey }
    return key
  }

  private var fetchedAt: ContinuousClock.Instant? { cache.withLock { $0.fetchedAt } }

  private var mayFetch: Bool {
    fetchInFlight != nil || attemptedAt.map { now() - $0 >= refetchInterval } ?? true || mayRetryFirstFetch
  }

  /// Before the first success the interval is one second, as nobody can sign in without keys.
  private var mayRetryFirstFetch: Bool {
    fetchedAt == nil && (attemptedAt.map { now() - $0 >= .seconds(1) } ?? true)
  }

  private func refresh() async throws {
    if let fetchInFlight {
      return try await fetchInFlight.value
    }
    attemptedAt = now()
    // A task of its own, so that a caller that is cancelled does not cancel the fetch for the others.
    let task = Task {
      let fetched = try await fetch().byID
      guard waitsForUnknownKeys || !fetched.isEmpty else { throw KeysUnavailable() }
      replace(with: fetched)
    }
    fetchInFlight = task
    defer { fetchInFlight = nil }
    do { try await task.value } catch {
      extendLifetime()
      throw error
    }
  }

  /// Extends the lifetime of the last good set, so that callers do not wait for a server that does not answer.
  private func extendLifetime() {
    cache.withLock { cache in
      guard let fetchedAt = cache.fetchedAt else { return }
      cache.fetchedAt = max(fetchedAt, now() - lifetime + min(lifetime, Self.grace))
    }
  }

  /// Longer than a fetch may take.
  private static let grace = Duration.seconds(15)

  private func replace(with fetched: [String: VerifyingKey]) {
    let before = cache.withLock { cache in
      defer { cache = Cache(keys: fetched, fetchedAt: now()) }
      return cache.keys
    }
    let isOneRemoved = before.contains { id, key in fetched[id]?.isSame(as: key) != true }
    if !fetched.isEmpty { fetchedKeys.continuation.yield() }
    if isOneRemoved { removalCount.add(1, ordering: .releasing) }
  }
}

/// No usable keys could be fetched, or this process has no signing key.
package struct KeysUnavailable: Error {
  package init() {}
}
