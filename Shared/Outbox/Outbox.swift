import Database
import Foundation
import Logging
import Prometheus
import ServiceLifecycle
import Tokens
import Web
import Wire

/// A transactional outbox: messages are written in the transaction of their cause and sent afterwards, at least once,
/// by any replica. As an inbox: incoming messages are stored before they are acknowledged, and worked on afterwards.
package struct Outbox: Service {
  private let store: OutboxMessageStore
  private let database: any Database
  private let deliveries: [String: Delivery]
  private let metrics: OutboxMetrics
  private let logger: Logger
  private let now: @Sendable () -> Date
  private let backoff: Backoff
  private let configuration: WorkerConfiguration
  private let pollInterval: Duration
  private let writes: ChangeSignal
  private let wakeUpSignal = ChangeSignal()

  package static let migration = OutboxMessageStore.migration(of: "outbox")
  package static let inboxMigration = OutboxMessageStore.migration(of: "inbox")

  /// - Parameters:
  ///   - table: `outbox`, or `inbox` for incoming messages.
  ///   - deliveries: one for each kind of message.
  package init(
    _ table: String = "outbox", database: any Database, keys: DataKeys, in dependencies: Dependencies,
    backoff: Backoff = Backoff(), configuration: WorkerConfiguration = WorkerConfiguration(), deliveries: [Delivery]
  ) {
    self.store = OutboxMessageStore(table: table, keys: keys)
    self.database = database
    self.deliveries = Dictionary(deliveries.map { ($0.kind, $0) }) { $1 }
    self.metrics = OutboxMetrics(table, in: dependencies.registry)
    self.logger = dependencies.logger
    self.now = dependencies.now
    self.backoff = backoff
    self.configuration = configuration
    self.pollInterval = dependencies.pollInterval
    self.writes = dependencies.writes
  }

  /// Writes a message in the transaction of its cause. Call ``wakeUp()`` after the commit; without it the message waits
  /// for about a second.
  ///
  /// - Parameters:
  ///   - deduplicationKey: identifies the cause; a second message of the same kind and key is not written.
  ///   - user: the user whose erasure deletes the message.
  ///   - orderingKey: messages with the same key are sent one after the other, in the order in which they were written.
  ///     The transactions that write them must wait for each other. No personal data: it is not encrypted.
  ///   - due: the first try is not made earlier.
  /// - Returns: false when the message was already written.
  @discardableResult
  package func add(
    _ kind: String, _ content: some Encodable, deduplicationKey: String? = nil, user: UserID? = nil,
    orderingKey: String? = nil, due: Date? = nil, at now: Date, on db: any Connection
  ) throws -> Bool {
    let giveUpAfter = deliveries[kind]?.giveUpAfter ?? Delivery.day
    let due = max(due ?? now, now)
    return try store.add(
      kind, try JSON.encodeExact(content), deduplicationKey: deduplicationKey, user: user, orderingKey: orderingKey,
      giveUpAt: due + giveUpAfter.seconds, due: due, at: now, on: db)
  }

  /// Starts the worker's next poll at once. Call it after a transaction that has written a message.
  package func wakeUp() { wakeUpSignal.send() }

  /// Deletes all messages of a user, sent or not.
  package func erase(_ user: UserID, on db: any Connection) throws { try store.erase(user, on: db) }

  /// Sends until graceful shutdown.
  package func run() async throws {
    let leases = store.leases(duration: leaseDuration)
    let worker = Worker(
      leases: leases, database: database, logger: logger, now: now, wakeUpSignal: wakeUpSignal, writes: writes,
      configuration: configuration, pollInterval: pollInterval
    ) { try await attempt($0, leases) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await worker.run() }
      group.addTask { await sweepPeriodically() }
      try await group.waitForAll()
    }
  }

  /// Longer than any try: a message whose lease expired during a try would be sent twice.
  private var leaseDuration: Duration {
    (deliveries.values.map(\.timeout).max() ?? .zero) + .seconds(30)
  }

  private func attempt(_ leased: LeasedRow, _ leases: LeaseTable) async throws {
    let kind = try leased.row.get("kind", as: String.self)
    guard let delivery = deliveries[kind] else {
      // A replica of a newer version has written it and will send it.
      return try await postpone(leased, kind, by: backoff.longest, leases, because: "unknown kind")
    }
    do {
      try await delivery.deliver(try store.message(leased))
      try await settle(leased, kind, as: .done)
    } catch  where Task.isCancelled {
      try await postpone(leased, kind, by: delivery.unknownOutcomeDelay, leases, because: "stopped")
    } catch let failure as Undeliverable {
      try await giveUp(leased, kind, because: failure.reason)
    } catch {
      let minimum = error is DeliveryTimeout ? delivery.unknownOutcomeDelay : (error as? TryLater)?.wait ?? .zero
      let delay = max(minimum, backoff.delay(after: leased.tries))
      let isTooLate = try now() + delay.seconds >= leased.row.get("give_up_at")
      if isTooLate { return try await giveUp(leased, kind, because: "\(error)") }
      try await postpone(leased, kind, by: delay, leases, because: "\(error)")
    }
  }

  private func settle(_ leased: LeasedRow, _ kind: String, as outcome: DeliveryOutcome) async throws {
    let now = now()
    // In a task of its own, which a shutdown does not cancel: a message that was sent must not be sent again.
    let isSettled = try await Task { [database, store] in
      try await database.write { db in try store.settle(leased, as: outcome.rawValue, at: now, on: db) }
    }.value
    if isSettled { metrics.count(kind, outcome) }
  }

  private func giveUp(_ leased: LeasedRow, _ kind: String, because reason: String) async throws {
    logger.error(
      "given up",
      metadata: [
        "table": "\(store.table.text)", "kind": "\(kind)", "id": "\(leased.key)", "tries": "\(leased.tries)",
        "error": "\(reason)",
      ])
    try await settle(leased, kind, as: .givenUp)
  }

  private func postpone(
    _ leased: LeasedRow, _ kind: String, by delay: Duration, _ leases: LeaseTable, because reason: String
  ) async throws {
    metrics.count(kind, .postponed)
    logger.notice(
      "postponed",
      metadata: [
        "table": "\(store.table.text)", "kind": "\(kind)", "id": "\(leased.key)", "tries": "\(leased.tries)",
        "wait_seconds": "\(Int(delay.seconds))", "error": "\(reason)",
      ])
    let due = now() + delay.seconds
    // In a task of its own, which a shutdown does not cancel: the next worker need not wait for the lease to expire.
    try await Task { [database] in
      _ = try await database.write { db in try leases.postpone(leased, until: due, on: db) }
    }.value
  }

  /// Updates the depth metrics and deletes messages that were settled a week ago: every five seconds while messages
  /// wait or are sent, else at the poll interval.
  private func sweepPeriodically() async {
    // Not a `PeriodicSweep`: one batch each time is enough, as the interval is short.
    await cancelWhenGracefulShutdown {
      await repeatAfterChanges(wakeUpSignal, atMost: pollInterval) {
        do {
          let now = now()
          let weekAgo = now - 7 * 86_400
          let (depths, hasOld) = try await database.read { [store] db in
            (try store.depths(on: db), try store.hasSettled(before: weekAgo, on: db))
          }
          metrics.setDepths(depths, of: deliveries.keys, at: now)
          if hasOld {
            try await database.write { [store] db in try store.sweep(before: weekAgo, limit: 500, on: db) }
          }
          return hasOld || !depths.isEmpty
        } catch {
          logger.warning("not tidied", metadata: ["table": "\(store.table.text)", "error": "\(error)"])
          return true
        }
      }
    }
  }
}

/// What a try of a message ended with; the raw values are stored and label metrics.
enum DeliveryOutcome: String { case done, postponed, givenUp = "given_up" }
