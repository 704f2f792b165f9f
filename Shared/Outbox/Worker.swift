import Database
import Foundation
import Logging
import ServiceLifecycle
import Synchronization

/// Carries out the due rows of one table, several at a time: as soon as the bell rings, and at least every second.
struct Worker: Service {
  let leases: Leases
  let database: any Database
  let logger: Logger
  let now: @Sendable () -> Date
  let bell: Bell
  let pace: Pace
  /// Settles the row or gives it back. When it throws, the row is due again once its lease has run out.
  let attempt: @Sendable (Leased) async throws -> Void

  /// Until graceful shutdown: then nothing more is claimed, what runs may finish, and what takes too long is called off.
  func run() async throws {
    let running = Tally()
    await withGracefulShutdownHandler {
      await withDiscardingTaskGroup { group in
        while !Task.isCancelled, !Task.isShuttingDownGracefully {
          let claimed = await claim(pace.atOnce - running.count)
          for leased in claimed {
            running.add(1)
            group.addTask {
              await carryOut(leased)
              running.add(-1)
              bell.ring()
            }
          }
          if claimed.isEmpty { await bell.wait(atMost: pace.look) }
        }
        let end = ContinuousClock.now + pace.finish
        while running.count > 0, !Task.isCancelled, ContinuousClock.now < end { await bell.wait(atMost: end - .now) }
        group.cancelAll()
      }
    } onGracefulShutdown: {
      bell.ring()
    }
  }

  private func claim(_ limit: Int) async -> [Leased] {
    guard limit > 0 else { return [] }
    do {
      let now = now()
      return try await database.write { [leases] db in try leases.claim(limit: limit, at: now, on: db) }
    } catch {
      logger.warning("nothing claimed", metadata: ["table": "\(leases.table.text)", "error": "\(error)"])
      return []
    }
  }

  private func carryOut(_ leased: Leased) async {
    do { try await attempt(leased) } catch {
      logger.warning(
        "not settled", metadata: ["table": "\(leases.table.text)", "row": "\(leased.key)", "error": "\(error)"])
    }
  }
}

/// How much a worker does at once, how often it looks by itself, and how long it may finish what it has begun.
package struct Pace: Sendable {
  package var atOnce: Int
  package var look: Duration
  package var finish: Duration

  package init(atOnce: Int = 8, look: Duration = .seconds(1), finish: Duration = .seconds(5)) {
    self.atOnce = atOnce
    self.look = look
    self.finish = finish
  }
}

private final class Tally: Sendable {
  private let value = Mutex(0)

  var count: Int { value.withLock { $0 } }

  func add(_ number: Int) { value.withLock { $0 += number } }
}
