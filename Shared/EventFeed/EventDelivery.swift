import Clients
import Database
import Foundation
import Logging
import Outbox
import ServiceLifecycle
import Web
import Wire

/// Delivers a service's recorded events: as soon as a transaction has recorded some, at its start, and at the poll
/// interval, for events that another replica has left behind. One replica at a time delivers, as long as there are
/// events.
struct EventDelivery: Service {
  private let database: any Database
  private let client: EventsClient
  /// Sent when events have been recorded.
  private let recorded: ChangeSignal
  private let logger: Logger
  private let now: @Sendable () -> Date
  private let pollInterval: Duration
  private let metrics: EventFeedMetrics
  private let limits: EventDeliveryLimits
  private let lease = UUID().uuidString

  init(
    database: any Database, client: EventsClient, recorded: ChangeSignal, in dependencies: Dependencies,
    limits: EventDeliveryLimits = EventDeliveryLimits()
  ) {
    self.database = database
    self.client = client
    self.recorded = recorded
    self.logger = dependencies.logger
    self.now = dependencies.now
    self.pollInterval = dependencies.pollInterval
    self.metrics = EventFeedMetrics(in: dependencies.registry, now: dependencies.now)
    self.limits = limits
  }

  /// Delivers until graceful shutdown, and then what the last requests have recorded.
  func run() async throws {
    await cancelWhenGracefulShutdown { await deliverUntilCancelled() }
    guard !Task.isCancelled else { return }
    // Not cancelled by the shutdown: nothing waits for these events but a replica's next poll. They are few.
    let last = Task { try await deliverAll() }
    let limit = Task {
      try await Task.sleep(for: limits.shutdownTimeout)
      last.cancel()
    }
    // `try?`: what is not delivered stays for the next start.
    _ = try? await last.value
    limit.cancel()
  }

  private func deliverUntilCancelled() async {
    var failures = 0
    var isSignalled = false
    while !Task.isCancelled {
      do {
        let rest = try await deliverAll(isSignalled: isSignalled)
        failures = 0
        await recorded.wait(after: rest.version, atMost: rest.wait)
        isSignalled = recorded.version != rest.version
      } catch {
        guard !Task.isCancelled else { return }
        failures += 1
        metrics.failures.add()
        let delay = limits.backoff.delay(after: failures)
        logger.warning(
          "events not delivered", metadata: ["error": "\(error)", "tries": "\(failures)", "wait": "\(delay)"])
        await withdrawOldest()
        // `try?`: it throws only when cancelled, which the loop's condition checks. Not woken up by further events: the
        // next try has to wait.
        try? await Task.sleep(for: delay)
      }
    }
  }

  /// Delivers until there is nothing left, or another replica has the lease.
  ///
  /// - Parameter isSignalled: events were recorded here. Otherwise a query that writes nothing looks for some first.
  @discardableResult
  private func deliverAll(isSignalled: Bool = false) async throws -> Rest {
    var version = recorded.version
    if !isSignalled, try await !database.readOnce({ db in try EventOutboxStore.hasEvents(on: db) }) {
      return rest(after: version)
    }
    var delivered: [Int] = []
    do {
      while true {
        // What is signalled from now on may not be in the batch.
        version = recorded.version
        let batch = try await next(after: delivered)
        delivered = []
        guard batch.hasLease else {
          // It finds the events of this replica as well, so there is no need to ask for the lease with each of them.
          try await Task.sleep(for: limits.busyPause)
          // If it has died, its lease ends.
          let leased = Duration.seconds(batch.leasedUntil.timeIntervalSince(now()))
          return Rest(version: version, wait: min(pollInterval, max(leased, .milliseconds(50))))
        }
        if batch.isReleased { return rest(after: version) }
        metrics.setOldest(batch.events.first?.recordedAt)
        let next = limits.cut(batch.events)
        delivered = try await deliver(next)
        // What is recorded in the next moment is delivered together, as each delivery costs several transactions. Not
        // while enough of them wait already.
        if delivered.count == next.count, !limits.isMore(than: next.count, of: batch.events.count) {
          try await Task.sleep(for: limits.pause(after: delivered.count))
        }
      }
    } catch {
      await release(after: delivered)
      throw error
    }
  }

  /// When to look for events again.
  private struct Rest {
    /// After a signal since then.
    let version: Int
    /// After this time at the latest.
    let wait: Duration
  }

  private func rest(after version: Int) -> Rest {
    metrics.setOldest(nil)
    return Rest(version: version, wait: pollInterval)
  }

  private func next(after delivered: [Int]) async throws -> EventBatch {
    let now = now()
    return try await database.write { [lease, limits, engine = database.engine] db in
      // The commit does not wait for the disk: after a crash what was delivered is delivered again.
      if engine == .postgres { try db.enqueue("set local synchronous_commit = off") }
      return try EventOutboxStore.next(
        after: delivered, lease: lease, until: now + limits.leaseSeconds, at: now, limit: limits.batchMax, on: db)
    }
  }

  /// Delivers events in their order, and withdraws those that the events service refuses by themselves.
  ///
  /// - Returns: the positions of the delivered events.
  private func deliver(_ events: ArraySlice<RecordedEvent>) async throws -> [Int] {
    guard let first = events.first else { return [] }
    do {
      _ = try await client.deliver(events.map(\.encoded))
      metrics.delivered.add(by: events.count)
      return events.map(\.position)
    } catch let failure as Failure where failure.isRefusal {
      guard events.count > 1 else {
        try await refuse(first, because: failure)
        return []
      }
      let middle = events.startIndex + events.count / 2
      let earlier = try await deliver(events[..<middle])
      // What follows a withdrawn event is delivered after the reset that takes its place.
      guard earlier.count == middle - events.startIndex else { return earlier }
      return try await earlier + deliver(events[middle...])
    }
  }

  private func refuse(_ event: RecordedEvent, because failure: Failure) async throws {
    logger.error("event refused", metadata: ["position": "\(event.position)", "error": "\(failure)"])
    metrics.withdrawn.add("refused")
    let now = now()
    try await database.write { db in
      if try event.isReset() { return try EventOutboxStore.delete([event.position], on: db) }
      try EventOutboxStore.withdraw([event], at: now, on: db)
    }
  }

  /// Replaces events that wait for too long, or are too many, by resets.
  private func withdrawOldest() async {
    let now = now()
    do {
      var count = 0
      repeat {
        count = try await database.write { [limits] db in
          let expired = try EventOutboxStore.oldest(limit: limits.batchMax, on: db)
            .prefix { $0.recordedAt <= now - limits.keptSeconds }
          try EventOutboxStore.withdraw(Array(expired), at: now, on: db)
          let excess = try EventOutboxStore.excess(over: limits.keptMax, limit: limits.batchMax, on: db)
          try EventOutboxStore.withdraw(excess, at: now, on: db)
          return expired.count + excess.count
        }
        guard count > 0 else { return }
        metrics.withdrawn.add("too_old", by: count)
        logger.error("events withdrawn before they were delivered", metadata: ["count": "\(count)"])
      } while count >= limits.batchMax && !Task.isCancelled
    } catch {
      logger.warning("events not withdrawn", metadata: ["error": "\(error)"])
    }
  }

  /// In a task of its own, which a shutdown does not cancel: another replica need not wait for the lease to end.
  private func release(after delivered: [Int]) async {
    await Task { [database, lease] in
      // `try?`: a lease that is not released ends, and what is not deleted is delivered again.
      try? await database.write { db in try EventOutboxStore.release(lease, after: delivered, on: db) }
    }.value
  }
}

/// The bounds of deliveries.
struct EventDeliveryLimits: Sendable {
  var batchMax = FeedBatch.eventsMax
  var batchBytesMax = 512 * 1024
  /// Between two deliveries. The first event after a rest is delivered at once.
  var pause: Duration = .milliseconds(10)
  /// The same after a delivery of so many events.
  var busyMin = 16
  var busyPause: Duration = .milliseconds(100)
  /// Of so many events or more the last ones wait for the next delivery, where they would take statements of their own.
  var wholeMin = 32
  /// Longer than a delivery takes. The lease is renewed with each batch.
  var leaseSeconds = 10.0
  var backoff = Backoff(first: .milliseconds(200), longest: .seconds(30))
  /// After this time an event that was not delivered is withdrawn: the log of the events service reaches no further.
  var keptSeconds = 86_400.0
  /// How many events are kept while the events service is away.
  var keptMax = 100_000
  var shutdownTimeout: Duration = .seconds(3)

  /// Whether another delivery need not wait for further events, after one of `taken` of `waiting`.
  func isMore(than taken: Int, of waiting: Int) -> Bool {
    let isWhole = taken.isMultiple(of: wholeMin) && waiting - taken < wholeMin
    return waiting >= batchMax || taken < waiting && !isWhole
  }

  func pause(after count: Int) -> Duration { count >= busyMin ? busyPause : pause }

  /// The first events that one delivery may contain; at least one. Of many it is a number that few statements store
  /// (``Swift/Array/statementChunks``).
  func cut(_ events: [RecordedEvent]) -> ArraySlice<RecordedEvent> {
    var bytes = 0
    let count = events.prefix { event in
      bytes += event.encoded.utf8.count
      return bytes <= batchBytesMax
    }.count
    return events.prefix(max(1, count < wholeMin ? count : count - count % wholeMin))
  }
}

extension Failure {
  /// Whether the body of a delivery was refused, so that it would be refused again.
  fileprivate var isRefusal: Bool { [.malformed, .invalid, .unprocessable, .tooLarge].contains(kind) }
}
