import Database
import Foundation
import Logging
import ServiceLifecycle
import Synchronization

/// Works on the due rows of one table, several at a time: when it is woken up, and at every poll interval.
struct Worker: Service {
  let leases: LeaseTable
  let database: any Database
  let logger: Logger
  let now: @Sendable () -> Date
  let wakeUpSignal: WakeUpSignal
  let configuration: WorkerConfiguration
  /// Finishes or postpones the row. When it throws, the row is due again after its lease has expired.
  let attempt: @Sendable (LeasedRow) async throws -> Void

  /// Runs until graceful shutdown. Then no more rows are claimed, and running attempts are cancelled after the shutdown
  /// timeout.
  func run() async throws {
    let running = RunningCount()
    await withGracefulShutdownHandler {
      await withDiscardingTaskGroup { group in
        while !Task.isCancelled, !Task.isShuttingDownGracefully {
          let claimed = await claim(configuration.concurrency - running.count)
          for leased in claimed {
            running.add(1)
            group.addTask {
              await work(on: leased)
              running.add(-1)
              wakeUpSignal.send()
            }
          }
          if claimed.isEmpty { await wakeUpSignal.wait(atMost: configuration.pollInterval) }
        }
        let end = ContinuousClock.now + configuration.shutdownTimeout
        while running.count > 0, !Task.isCancelled, ContinuousClock.now < end {
          await wakeUpSignal.wait(atMost: end - .now)
        }
        group.cancelAll()
      }
    } onGracefulShutdown: {
      wakeUpSignal.send()
    }
  }

  private func claim(_ limit: Int) async -> [LeasedRow] {
    guard limit > 0 else { return [] }
    do {
      let now = now()
      return try await database.write { [leases] db in try leases.claim(limit: limit, at: now, on: db) }
    } catch {
      logger.warning("nothing claimed", metadata: ["table": "\(leases.table.text)", "error": "\(error)"])
      return []
    }
  }

  private func work(on leased: LeasedRow) async {
    do { try await attempt(leased) } catch {
      logger.warning(
        "not settled", metadata: ["table": "\(leases.table.text)", "row": "\(leased.key)", "error": "\(error)"])
    }
  }
}

/// How many rows a worker works on at once, how often it polls, and how long running attempts may take at shutdown.
package struct WorkerConfiguration: Sendable {
  package var concurrency: Int
  package var pollInterval: Duration
  package var shutdownTimeout: Duration

  package init(
    concurrency: Int = 8, pollInterval: Duration = .seconds(1), shutdownTimeout: Duration = .seconds(5)
  ) {
    self.concurrency = concurrency
    self.pollInterval = pollInterval
    self.shutdownTimeout = shutdownTimeout
  }
}

/// How many attempts run.
private final class RunningCount: Sendable {
  private let value = Mutex(0)

  var count: Int { value.withLock { $0 } }

  func add(_ number: Int) { value.withLock { $0 += number } }
}
