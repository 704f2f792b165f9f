import Foundation
import Logging
import ServiceLifecycle
import Synchronization
import Web
import Wire

/// The topics that users have open in this process, in the database that it shares with other replicas, so that none of
/// them notifies who sees everything already. Changes are written in batches, a moment later.
final class OpenTopics: Service {
  typealias Entry = OpenTopicStore.Entry

  private struct State {
    var open: Set<Entry> = []
    /// What the database does not have yet.
    var changes: [Entry: Bool] = [:]
  }

  private let store: OpenTopicStore
  private let lease: ReplicaLease
  private let logger: Logger
  private let now: @Sendable () -> Date
  private let state = Mutex(State())
  private let changes = ChangeSignal()
  private static let batchSize = 256
  private static let pauseAfterFailure = Duration.seconds(1)

  init(store: OpenTopicStore, lease: ReplicaLease, logger: Logger, now: @escaping @Sendable () -> Date) {
    self.store = store
    self.lease = lease
    self.logger = logger
    self.now = now
  }

  func set(_ topic: String, _ user: UserID, isOpen: Bool) {
    let entry = Entry(topic: topic, user: user)
    state.withLock { state in
      if isOpen { state.open.insert(entry) } else { state.open.remove(entry) }
      state.changes[entry] = isOpen
    }
  }

  /// Writes what was set.
  func wakeUp() { changes.send() }

  /// Other replicas may have removed everything: it is written again.
  func restore() {
    state.withLock { state in
      for entry in state.open { state.changes[entry] = true }
    }
    wakeUp()
  }

  func run() async throws {
    await cancelWhenGracefulShutdown { await self.writeUntilCancelled() }
  }

  private func writeUntilCancelled() async {
    while !Task.isCancelled {
      let version = changes.version
      do {
        while try await writeBatch(), !Task.isCancelled {}
        await changes.wait(after: version)
      } catch {
        guard !Task.isCancelled else { return }
        logger.warning("open topics not written", metadata: ["error": "\(error)"])
        // `try?`: it throws only when cancelled, which the loop's condition checks.
        try? await Task.sleep(for: Self.pauseAfterFailure)
      }
    }
  }

  /// - Returns: whether there may be more.
  private func writeBatch() async throws -> Bool {
    let batch = state.withLock { state in
      let batch = state.changes.prefix(Self.batchSize).map { (entry: $0.key, isOpen: $0.value) }
      for (entry, _) in batch { state.changes[entry] = nil }
      return batch
    }
    guard !batch.isEmpty else { return false }
    do {
      try await lease.require()
      // In the same order on every replica, as they lock rows.
      try await store.change(
        batch.sorted { ($0.entry.topic, $0.entry.user.description) < ($1.entry.topic, $1.entry.user.description) },
        of: lease.replica)
    } catch {
      // What has changed since then counts.
      state.withLock { state in
        for (entry, isOpen) in batch where state.changes[entry] == nil { state.changes[entry] = isOpen }
      }
      throw error
    }
    return true
  }

  /// Those of the users who have one of the topics open on another replica.
  func openersElsewhere(of topics: [String], among users: [UserID]) async throws -> Set<UserID> {
    try await store.openers(of: topics, among: users, except: lease.replica, at: now())
  }
}
