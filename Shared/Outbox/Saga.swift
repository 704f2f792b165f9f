import Database
import Foundation
import Logging
import Measures
import ServiceLifecycle
import Synchronization
import Web

/// Finishes changes that need other services: begun in one transaction by the owner, whose row says what is still to do,
/// then carried out by steps that are each safe to repeat, until the last one settles the row.
///
/// A crash at any point leaves a row that is due again once its lease has run out. It is never given up: what takes long
/// is told loudly instead.
package struct Saga: Service {
  private let name: String
  private let leases: Leases
  private let database: any Database
  private let waiting: Waiting
  private let logger: Logger
  private let now: @Sendable () -> Date
  private let backoff: Backoff
  private let pace: Pace
  private let steps: @Sendable (SagaRow) async throws -> Void
  private let bell = Bell()

  /// - Parameters:
  ///   - leases: the owner's table; its `due_at` is set in the transaction that begins the change.
  ///   - steps: asks the others, then ends with the last ``SagaRow/step(last:_:)``.
  package init(
    _ name: String, _ leases: Leases, database: any Database, in surroundings: Surroundings,
    backoff: Backoff = Backoff(first: .seconds(1), longest: .seconds(30)), pace: Pace = Pace(),
    steps: @escaping @Sendable (SagaRow) async throws -> Void
  ) {
    self.name = name
    self.leases = leases
    self.database = database
    self.waiting = Waiting(name, in: surroundings.registry)
    self.logger = surroundings.logger
    self.now = surroundings.now
    self.backoff = backoff
    self.pace = pace
    self.steps = steps
  }

  /// Something was begun: do not wait for the next look.
  package func ring() { bell.ring() }

  package func run() async throws {
    let worker = Worker(
      leases: leases, database: database, logger: logger, now: now, bell: bell, pace: pace, attempt: attempt)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await worker.run() }
      group.addTask { await measure() }
      try await group.waitForAll()
    }
  }

  @Sendable private func attempt(_ leased: Leased) async throws {
    let row = SagaRow(leased: leased, leases: leases, database: database)
    do { try await steps(row) } catch {
      let wait = Task.isCancelled ? .zero : backoff.wait(after: leased.tries)
      // Tries come at growing intervals: by then they add up to a minute.
      let isLoud = leased.tries > 6
      logger.log(
        level: isLoud ? .error : .notice, "not finished yet",
        metadata: [
          "saga": "\(name)", "row": "\(leased.key)", "tries": "\(leased.tries)", "error": "\(error)",
        ])
      let due = now() + wait.seconds
      // Also while the process stops: the next one should not have to wait for the lease.
      try await Task { [database, leases] in
        _ = try await database.write { db in try leases.postpone(leased, until: due, on: db) }
      }.value
    }
  }

  private func measure() async {
    await cancelWhenGracefulShutdown {
      while !Task.isCancelled {
        // `try?`: without an answer the last figure stays.
        let now = now()
        if let count = try? await database.read({ [leases] db in try leases.unfinished(at: now, on: db) }) {
          waiting.show(count)
        }
        try? await Task.sleep(for: .seconds(5))
      }
    }
  }
}

/// A change that is carried out, and still this worker's.
package struct SagaRow: Sendable {
  private let leased: Leased
  private let leases: Leases
  private let database: any Database

  init(leased: Leased, leases: Leases, database: any Database) {
    self.leased = leased
    self.leases = leases
    self.database = database
  }

  package var key: String { leased.key }
  package var row: Row { leased.row }

  /// A step of the owner's own, in one transaction, unless another worker has taken over.
  ///
  /// - Parameter last: settles the change: it is never carried out again.
  /// - Throws: ``LeaseLost``, and then nothing has changed.
  @discardableResult
  package func step<T: Sendable>(
    last: Bool = false, _ body: @escaping @Sendable (any Connection) throws -> T
  ) async throws -> T {
    try await database.write { [leased, leases] db in
      guard try last ? leases.finish(leased, on: db) : leases.holds(leased, on: db) else { throw LeaseLost() }
      return try body(db)
    }
  }
}

/// Another worker has taken over, because this one took too long.
package struct LeaseLost: Error {
  package init() {}
}

/// How many changes of a saga are not finished.
private final class Waiting: Sendable {
  private let count = Mutex<Int?>(nil)

  init(_ name: String, in registry: Registry) {
    registry.gauge("kith_\(name)_unfinished", "Changes across services that are not finished.") { [weak self] in
      self?.count.withLock { $0 }.map { [([], Double($0))] } ?? []
    }
  }

  func show(_ number: Int) { count.withLock { $0 = number } }
}
