import Foundation
import Synchronization
import Wire

/// The sockets and event streams of this process in the database that it shares with other replicas.
final class OpenConnections: Sendable {
  private struct State {
    var open: [Int: UserID] = [:]
    /// Numbers of connections that the database may still have.
    var closed: [Int] = []
    var isRemoving = false
    /// The database may lack connections that are open.
    var isIncomplete = false
  }

  private let store: OpenConnectionStore
  private let lease: ReplicaLease
  private let now: @Sendable () -> Date
  private let state = Mutex(State())
  /// After a restart all clients connect at once: they wait here, and not for a connection of the database.
  private let writes = ConcurrencyLimit(4)
  private static let batchSize = 256

  init(store: OpenConnectionStore, lease: ReplicaLease, now: @escaping @Sendable () -> Date) {
    self.store = store
    self.lease = lease
    self.now = now
  }

  var isInUse: Bool { state.withLock { !$0.open.isEmpty || !$0.closed.isEmpty } }

  /// - Returns: false when the user has `max` already, on all replicas together. When the database is away, nobody is
  ///   refused here.
  func add(_ connection: OpenConnection, max: Int) async -> Bool {
    var isRecorded = true
    do {
      let isAdded = try await writes.run { [self] in
        try await lease.require()
        return try await store.add(connection, of: lease.replica, max: max, at: now())
      }
      guard isAdded else { return false }
    } catch {
      isRecorded = false
    }
    state.withLock { state in
      state.open[connection.number] = connection.user
      if !isRecorded { state.isIncomplete = true }
    }
    return true
  }

  func remove(_ connection: OpenConnection) {
    state.withLock { state in
      state.open[connection.number] = nil
      state.closed.append(connection.number)
    }
    Task { await removeClosed() }
  }

  /// Adds what the database lacks after it was away, and removes what is no longer open.
  ///
  /// - Parameter hasLapsed: other replicas may have removed the connections of this one.
  func maintain(hasLapsed: Bool) async throws {
    let missing = state.withLock { state -> [OpenConnection] in
      guard hasLapsed || state.isIncomplete else { return [] }
      state.isIncomplete = false
      return state.open.map { OpenConnection(number: $0.key, user: $0.value) }
    }
    do { try await restore(missing) } catch {
      state.withLock { $0.isIncomplete = true }
      throw error
    }
    await removeClosed()
  }

  private func restore(_ connections: [OpenConnection]) async throws {
    guard !connections.isEmpty else { return }
    try await lease.require()
    for start in stride(from: 0, to: connections.count, by: Self.batchSize) {
      try await store.restore(connections[start...].prefix(Self.batchSize), of: lease.replica)
    }
    // Some may have been closed, and removed, before they were added again.
    state.withLock { state in
      state.closed += connections.map(\.number).filter { state.open[$0] == nil }
    }
  }

  /// Removes in batches, one after the other, as many close at once when a replica or a gateway stops.
  private func removeClosed() async {
    let isFirst = state.withLock { state in
      defer { state.isRemoving = true }
      return !state.isRemoving
    }
    guard isFirst else { return }
    while let numbers = nextClosed() {
      do { try await store.remove(numbers, of: lease.replica) } catch {
        // Until ``maintain(hasLapsed:)``.
        return state.withLock { state in
          state.closed += numbers
          state.isRemoving = false
        }
      }
    }
  }

  private func nextClosed() -> [Int]? {
    state.withLock { state in
      guard !state.closed.isEmpty else {
        state.isRemoving = false
        return nil
      }
      defer { state.closed.removeFirst(min(Self.batchSize, state.closed.count)) }
      return Array(state.closed.prefix(Self.batchSize))
    }
  }
}
