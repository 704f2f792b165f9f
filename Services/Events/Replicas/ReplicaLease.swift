import Foundation
import Synchronization

/// The lease of this process, under which the database has what other replicas must know of it.
final class ReplicaLease: Sendable {
  private struct State {
    /// nil when the lease was never needed.
    var end: Date?
    var hasLapsed = false
  }

  /// Names this process.
  let replica: String
  private let store: ReplicaStore
  private let now: @Sendable () -> Date
  private let state = Mutex(State())
  private static let seconds = 15.0

  init(of replica: String, store: ReplicaStore, now: @escaping @Sendable () -> Date) {
    self.replica = replica
    self.store = store
    self.now = now
  }

  /// Takes the lease, unless there is one that lives for a while.
  func require() async throws {
    let end = state.withLock { $0.end } ?? .distantPast
    if end < now() + Self.seconds / 3 { try await take() }
  }

  /// Extends the lease, when it was ever needed.
  func extend() async throws {
    if state.withLock({ $0.end }) != nil { try await take() }
  }

  private func take() async throws {
    let end = now() + Self.seconds
    try await store.setLease(of: replica, until: end)
    state.withLock { state in
      if let previous = state.end, previous <= now() { state.hasLapsed = true }
      state.end = end
    }
  }

  /// Whether there was a time without a lease since the last call: other replicas may have removed what is of this one.
  func takeLapse() -> Bool {
    state.withLock { state in
      defer { state.hasLapsed = false }
      return state.hasLapsed
    }
  }

  /// Ends the lease, so that nothing of this process counts any more.
  func end() async throws {
    if state.withLock({ $0.end }) != nil { try await store.setLease(of: replica, until: now() - Self.seconds) }
  }
}
