import Database
import Foundation
import Logging
import ServiceLifecycle
import Synchronization
import Web

/// Works on the due rows of one table, several at a time: when it is woken up, when the next known row is due, and at
/// every poll interval, for rows that another replica has left behind.
struct Worker: Service {
  let leases: LeaseTable
  let database: any Database
  let logger: Logger
  let now: @Sendable () -> Date
  let wakeUpSignal: ChangeSignal
  /// ``Dependencies/writes``.
  let writes: ChangeSignal
  let configuration: WorkerConfiguration
  let pollInterval: Duration
  /// Finishes or postpones the row. When it throws, the row is due again after its lease has expired.
  let attempt: @Sendable (LeasedRow) async throws -> Void

  /// Runs until graceful shutdown. Then no more rows are claimed, and running attempts are cancelled after the shutdown
  /// timeout.
  func run() async throws {
    let running = RunningCount()
    await withGracefulShutdownHandler {
      await withDiscardingTaskGroup { group in
        group.addTask { await wakeUpAfterWrites() }
        while !Task.isCancelled, !Task.isShuttingDownGracefully {
          let version = wakeUpSignal.version
          let claim = await claim(configuration.concurrency - running.count)
          for leased in claim.rows {
            running.add(1)
            group.addTask {
              await work(on: leased)
              running.add(-1)
              wakeUpSignal.send()
            }
          }
          if claim.rows.isEmpty { await wakeUpSignal.wait(after: version, atMost: claim.wait) }
        }
        let end = ContinuousClock.now + configuration.shutdownTimeout
        while !Task.isCancelled, ContinuousClock.now < end {
          let version = wakeUpSignal.version
          guard running.count > 0 else { break }
          await wakeUpSignal.wait(after: version, atMost: end - .now)
        }
        group.cancelAll()
      }
    } onGracefulShutdown: {
      wakeUpSignal.send()
    }
  }

  /// Wakes the worker up a second after transactions of this process: they may have written rows that are due later, or
  /// have not woken it up.
  private func wakeUpAfterWrites() async {
    var version = writes.version
    while !Task.isCancelled {
      await writes.wait(after: version)
      // `try?`: a cancelled sleep ends the loop.
      try? await Task.sleep(for: .seconds(1))
      version = writes.version
      wakeUpSignal.send()
    }
  }

  /// The rows that were leased. When there are none, `wait` is the time until the next claim.
  private struct Claim {
    var rows: [LeasedRow] = []
    var wait: Duration = .zero
  }

  private func claim(_ limit: Int) async -> Claim {
    guard limit > 0 else { return Claim(wait: pollInterval) }
    do {
      let now = now()
      // A read: a transaction that writes would wake this worker up again.
      let firstDue = try await database.read { [leases] db in try leases.nextDue(on: db) }
      guard let firstDue, firstDue <= now else { return Claim(wait: wait(until: firstDue, at: now)) }
      return try await database.write { [leases] db in
        let rows = try leases.claim(limit: limit, at: now, on: db)
        guard rows.isEmpty else { return Claim(rows: rows) }
        // What is due waits for rows that others have leased.
        return Claim(wait: wait(until: try leases.nextDue(after: now, on: db), at: now))
      }
    } catch {
      logger.warning("nothing claimed", metadata: ["table": "\(leases.table.text)", "error": "\(error)"])
      return Claim(wait: min(pollInterval, .seconds(1)))
    }
  }

  /// The time until `due`, up to the poll interval. Times are stored in milliseconds: a wait of less than ten could end
  /// just before the row is due.
  private func wait(until due: Date?, at now: Date) -> Duration {
    guard let due else { return pollInterval }
    return min(pollInterval, max(.seconds(due.timeIntervalSince(now)), .milliseconds(10)))
  }

  private func work(on leased: LeasedRow) async {
    do { try await attempt(leased) } catch {
      logger.warning(
        "not settled", metadata: ["table": "\(leases.table.text)", "row": "\(leased.key)", "error": "\(error)"])
    }
  }
}

/// How many rows a worker works on at once, and how long running attempts may take at shutdown.
package struct WorkerConfiguration: Sendable {
  package var concurrency: Int
  package var shutdownTimeout: Duration

  package init(concurrency: Int = 8, shutdownTimeout: Duration = .seconds(5)) {
    self.concurrency = concurrency
    self.shutdownTimeout = shutdownTimeout
  }
}

/// How many attempts run.
private final class RunningCount: Sendable {
  private let value = Mutex(0)

  var count: Int { value.withLock { $0 } }

  func add(_ number: Int) { value.withLock { $0 += number } }
}
