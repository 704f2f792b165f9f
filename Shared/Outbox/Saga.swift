import Database
import Foundation
import Logging
import Prometheus
import ServiceLifecycle
import Synchronization
import Web

/// A saga: a change across services. The owner begins it in one transaction, whose row records what is still to do;
/// then steps run that are each safe to repeat, until the last one finishes the row.
///
/// A crash at any point leaves a row that is due again after its lease has expired. A saga is never given up: one that
/// takes long is logged as an error.
package struct Saga: Service {
  private let name: String
  private let leases: LeaseTable
  private let database: any Database
  private let unfinished: UnfinishedGauge
  private let logger: Logger
  private let now: @Sendable () -> Date
  private let backoff: Backoff
  private let configuration: WorkerConfiguration
  private let pollInterval: Duration
  private let writes: ChangeSignal
  private let steps: @Sendable (SagaRow) async throws -> Void
  private let wakeUpSignal = ChangeSignal()

  /// - Parameters:
  ///   - leases: the owner's table; its `due_at` is set in the transaction that begins the change.
  ///   - steps: calls the other services and ends with the last ``SagaRow/step(last:_:)``.
  package init(
    _ name: String, _ leases: LeaseTable, database: any Database, in dependencies: Dependencies,
    backoff: Backoff = Backoff(first: .seconds(1), longest: .seconds(30)),
    configuration: WorkerConfiguration = WorkerConfiguration(),
    steps: @escaping @Sendable (SagaRow) async throws -> Void
  ) {
    self.name = name
    self.leases = leases
    self.database = database
    self.unfinished = UnfinishedGauge(name, in: dependencies.registry)
    self.logger = dependencies.logger
    self.now = dependencies.now
    self.backoff = backoff
    self.configuration = configuration
    self.pollInterval = dependencies.pollInterval
    self.writes = dependencies.writes
    self.steps = steps
  }

  /// Starts the worker's next poll at once. Call it after a transaction that has begun a change.
  package func wakeUp() { wakeUpSignal.send() }

  package func run() async throws {
    let worker = Worker(
      leases: leases, database: database, logger: logger, now: now, wakeUpSignal: wakeUpSignal, writes: writes,
      configuration: configuration, pollInterval: pollInterval, attempt: attempt)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await worker.run() }
      group.addTask { await measure() }
      try await group.waitForAll()
    }
  }

  @Sendable private func attempt(_ leased: LeasedRow) async throws {
    let row = SagaRow(leased: leased, leases: leases, database: database)
    do { try await steps(row) } catch {
      let delay = Task.isCancelled ? .zero : backoff.delay(after: leased.tries)
      // With the default backoff the delays add up to a minute by then.
      let isOverdue = leased.tries > 6
      logger.log(
        level: isOverdue ? .error : .notice, "not finished yet",
        metadata: [
          "saga": "\(name)", "row": "\(leased.key)", "tries": "\(leased.tries)", "error": "\(error)",
        ])
      let due = now() + delay.seconds
      // In a task of its own, which a shutdown does not cancel: the next worker need not wait for the lease to expire.
      try await Task { [database, leases] in
        _ = try await database.write { db in try leases.postpone(leased, until: due, on: db) }
      }.value
    }
  }

  private func measure() async {
    await cancelWhenGracefulShutdown {
      await repeatAfterChanges(wakeUpSignal, atMost: pollInterval) {
        let now = now()
        // `try?`: when the query fails, the last value stays.
        let count = try? await database.read { [leases] db in try leases.unfinishedCount(at: now, on: db) }
        if let count { unfinished.set(count) }
        return count != 0
      }
    }
  }
}

/// A row of a saga that this worker has leased.
package struct SagaRow: Sendable {
  private let leased: LeasedRow
  private let leases: LeaseTable
  private let database: any Database

  init(leased: LeasedRow, leases: LeaseTable, database: any Database) {
    self.leased = leased
    self.leases = leases
    self.database = database
  }

  package var key: String { leased.key }
  package var row: Row { leased.row }
  /// How often it has been worked on, this time included.
  package var tries: Int { leased.tries }

  /// Begins the lease anew, for work that takes longer than a lease.
  ///
  /// - Throws: ``LeaseLost`` when another worker has the row.
  package func renewLease(at now: Date) async throws {
    let isRenewed = try await database.write { [leased, leases] db in
      try leases.postponeEnd(of: leased, until: now + leases.leaseDuration.seconds, on: db)
    }
    guard isRenewed else { throw LeaseLost() }
  }

  /// Runs a step on the owner's database in one transaction, unless another worker has taken over the row.
  ///
  /// - Parameter last: finishes the row: its steps do not run again.
  /// - Throws: ``LeaseLost`` when another worker has the row; then nothing has changed.
  @discardableResult
  package func step<T: Sendable>(
    last: Bool = false, _ body: @escaping @Sendable (any Connection) throws -> T
  ) async throws -> T {
    try await database.write { [leased, leases] db in
      guard try last ? leases.finish(leased, on: db) : leases.lock(leased, on: db) else { throw LeaseLost() }
      return try body(db)
    }
  }
}

/// Another worker has taken over the row, because this worker's lease has expired.
package struct LeaseLost: Error {
  package init() {}
}

/// The metric of a saga's unfinished rows.
private final class UnfinishedGauge: Sendable {
  private let count = Mutex<Int?>(nil)

  init(_ name: String, in registry: MetricsRegistry) {
    registry.gauge("kith_\(name)_unfinished", "Changes across services that are not finished.") { [weak self] in
      self?.count.withLock { $0 }.map { [([], Double($0))] } ?? []
    }
  }

  func set(_ number: Int) { count.withLock { $0 = number } }
}
