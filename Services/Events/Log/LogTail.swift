import Foundation
import Logging
import ServiceLifecycle
import Web
import Wire

/// Follows the end of the log, and passes every event on in the order of the log: those of this process as soon as they
/// are committed, those of other replicas when they are notified, or at the poll interval.
actor LogTail: Service {
  private let store: LogStore
  private let changes: ChangeSignal
  private let logger: Logger
  private let observers: [any LogObserver]
  private var end: LogStore.End?
  private let pollInterval: @Sendable () -> Duration

  /// - Parameters:
  ///   - changes: sent after events were appended.
  ///   - pollInterval: after what time the log is read without a signal.
  init(
    store: LogStore, changes: ChangeSignal, observers: [any LogObserver], logger: Logger,
    pollInterval: @escaping @Sendable () -> Duration
  ) {
    self.pollInterval = pollInterval
    self.store = store
    self.changes = changes
    self.observers = observers
    self.logger = logger
  }

  func run() async throws {
    await cancelWhenGracefulShutdown {
      while !Task.isCancelled {
        let version = self.changes.version
        await self.follow()
        await self.changes.wait(after: version, atMost: self.pollInterval())
      }
    }
  }

  /// Passes on what this process has appended, once it is committed, without reading it again: when it is what comes
  /// next. Otherwise other events, of this process or of other replicas, come before it, and all are read from the log.
  func append(_ batch: AppendedBatch) {
    guard let next = batch.end else { return }
    guard let end, end.epoch == next.epoch, end.position == next.position - batch.events.count else {
      return changes.send()
    }
    for observer in observers { observer.appended(batch.events) }
    self.end = next
  }

  private func follow() async {
    do {
      while try await readPage(), !Task.isCancelled {}
    } catch {
      guard !Task.isCancelled else { return }
      logger.warning("the log cannot be read", metadata: ["error": "\(error)"])
    }
  }

  /// - Returns: whether there may be more.
  private func readPage() async throws -> Bool {
    // Before the log is read: what was seen by then must be in it.
    let seen = store.furthestRead.end
    guard let last = end else {
      let found = try await store.end()
      if let seen, found.isBefore(seen) { try await startAgain(insteadOf: seen, found) } else { end = found }
      return false
    }
    let (events, found) = try await store.events(after: last.position)
    // Events that were passed on meanwhile are not passed on again.
    guard end == last else { return true }
    if let furthest = [last, seen].compactMap(\.self).first(where: { found.isBefore($0) }) {
      try await startAgain(insteadOf: furthest, found)
      return false
    }
    if !events.isEmpty { for observer in observers { observer.appended(events) } }
    let read = min(last.position + LogStore.pageSize, found.position)
    end = LogStore.End(position: read, epoch: found.epoch)
    return read < found.position
  }

  /// The database has an earlier state than before: after a backup was restored, or a standby that had not received
  /// everything took over.
  private func startAgain(insteadOf last: LogStore.End, _ found: LogStore.End) async throws {
    if found.epoch == last.epoch {
      logger.error("the log was set back", metadata: ["from": "\(last.position)", "to": "\(found.position)"])
      try await store.beginEpoch(insteadOf: found.epoch, Trace.newRequestID())
    }
    let next = try await store.end()
    store.furthestRead.reset(to: next)
    end = next
    for observer in observers { observer.logWasReplaced() }
  }
}

extension LogStore.End {
  /// Whether this, which was found later, is not what `seen` has become: of another epoch, or set back.
  fileprivate func isBefore(_ seen: LogStore.End) -> Bool { epoch != seen.epoch || position < seen.position }
}

/// Receives what ``LogTail`` reads: sockets and event streams.
protocol LogObserver: Sendable {
  /// Called with the next events, in their order.
  func appended(_ events: [AppendedEvent])

  /// Called when readers must begin again, as numbers that they have read mean nothing any more.
  func logWasReplaced()
}
