import Database
import Foundation
import Logging
import Outbox
import ServiceLifecycle
import Web
import Wire

/// Events of the providers: stored when they are received, and applied afterwards by any replica, each until it is
/// done, ignored or parked. An event that fails delays no other one.
struct BillingInbox: Service {
  let store: BillingEventStore
  private let processors: [PurchaseProvider: any BillingEventProcessor]
  private let metrics: BillingInboxMetrics
  private let now: @Sendable () -> Date
  private let logger: Logger
  private let pollInterval: Duration
  private let writes: ChangeSignal
  private let saga: Saga

  /// After so many tries, which take about half a day, an event is parked whatever the error.
  static let triesMax = 20

  /// - Parameter backoff: between the tries of an event whose error may be temporary.
  init(
    store: BillingEventStore, processors: [PurchaseProvider: any BillingEventProcessor],
    backoff: Backoff = Backoff(first: .seconds(2), longest: .seconds(3600)), in dependencies: Dependencies
  ) {
    let metrics = BillingInboxMetrics(in: dependencies.registry)
    let (now, logger) = (dependencies.now, dependencies.logger)
    self.store = store
    self.processors = processors
    self.metrics = metrics
    self.now = now
    self.logger = logger
    self.pollInterval = dependencies.pollInterval
    self.writes = dependencies.writes
    let worker = BillingEventWorker(store: store, processors: processors, metrics: metrics, logger: logger, now: now)
    self.saga = Saga(
      "billing_inbox", BillingEventStore.leases, database: store.database, in: dependencies, backoff: backoff,
      steps: worker.work)
  }

  /// Stores an event whose signature has been verified. Safe to repeat: an event is stored once by its id.
  ///
  /// - Parameters:
  ///   - kind: the provider's type of the event.
  ///   - body: as it was received.
  ///   - reason: parks the event at once, for this reason.
  /// - Returns: false when it has been stored before.
  @discardableResult
  func store(
    _ provider: PurchaseProvider, eventID: String, kind: String, _ body: Data, parkedBecause reason: String? = nil,
    at now: Date
  ) async throws -> Bool {
    let isNew = try await store.store(provider, eventID: eventID, kind: kind, body, parkedBecause: reason, at: now)
    metrics.countReceived(provider, isNew ? .stored : .repeated)
    if isNew { saga.wakeUp() }
    return isNew
  }

  /// Counts an event that was not stored because its signature is not valid.
  func countRejected(_ provider: PurchaseProvider) { metrics.countReceived(provider, .rejected) }

  /// Makes a parked event wait again.
  ///
  /// - Returns: its status before; nil when there is no such event. Only a parked event is changed.
  func retry(_ id: BillingEventID) async throws -> BillingEventStore.Status? {
    if try await store.retry(id, at: now()) {
      saga.wakeUp()
      return .parked
    }
    return try await store.status(of: id)
  }

  /// Works on events until graceful shutdown.
  func run() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { [saga] in try await saga.run() }
      group.addTask { await measure() }
      try await group.waitForAll()
    }
  }

  private func measure() async {
    await cancelWhenGracefulShutdown {
      await repeatAfterChanges(writes, atMost: pollInterval) {
        do {
          let depths = try await store.depths()
          metrics.setDepths(depths)
          return depths.contains { $0.status == BillingEventStore.Status.waiting.rawValue }
        } catch {
          logger.warning("the billing inbox was not measured", metadata: ["error": "\(error)"])
          return true
        }
      }
    }
  }
}

/// Applies one leased event and records the outcome.
private struct BillingEventWorker: Sendable {
  let store: BillingEventStore
  let processors: [PurchaseProvider: any BillingEventProcessor]
  let metrics: BillingInboxMetrics
  let logger: Logger
  let now: @Sendable () -> Date

  /// - Throws: an error after which the event is tried again.
  @Sendable func work(on row: SagaRow) async throws {
    let provider: PurchaseProvider = try row.row.enumValue("provider")
    let isLastTry = try row.row.get("tries") >= BillingInbox.triesMax
    do {
      guard let processor = processors[provider] else { throw ParkedEvent("\(provider.rawValue) is not configured") }
      let user = try await processor.process(try store.event(row.row))
      try await settle(row, provider, as: .done, user: user)
    } catch let ignored as IgnoredEvent {
      try await settle(row, provider, as: .ignored, because: ignored.description)
    } catch let parked as ParkedEvent {
      try await park(row, provider, because: parked.description)
    } catch let error as DecodingError {
      // Another try reads the same body.
      try await park(row, provider, because: "its body has another format: \(Failure(error).message)")
    } catch  where isLastTry && !Task.isCancelled {
      try await park(row, provider, because: "given up: \(error)")
    } catch {
      metrics.countProcessed(provider, "postponed")
      throw error
    }
  }

  private func park(_ row: SagaRow, _ provider: PurchaseProvider, because reason: String) async throws {
    logger.error(
      "a billing event is parked",
      metadata: ["provider": "\(provider.rawValue)", "id": "\(row.key)", "reason": "\(reason)"])
    try await settle(row, provider, as: .parked, because: reason)
  }

  private func settle(
    _ row: SagaRow, _ provider: PurchaseProvider, as status: BillingEventStore.Status, because reason: String? = nil,
    user: UserID? = nil
  ) async throws {
    let now = now()
    try await row.step(last: true) { db in
      try BillingEventStore.settle(row.key, as: status, because: reason, user: user, at: now, on: db)
    }
    metrics.countProcessed(provider, status.rawValue)
  }
}
