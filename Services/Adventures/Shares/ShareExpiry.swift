import Database
import Foundation
import Logging
import ServiceLifecycle
import Web

/// Writes down that shares have ended, and tells their channels. What anybody sees does not depend on it: a share is
/// inactive from its last second on.
struct ShareExpiry: Service {
  let database: any Database
  let changes: ChangeSignal
  /// After this time it looks for shares of which no signal has told: another replica's.
  let pollInterval: Duration
  let logger: Logger
  let now: @Sendable () -> Date

  func run() async throws {
    await cancelWhenGracefulShutdown {
      while !Task.isCancelled {
        let version = changes.version
        let pause = await endShares()
        await changes.wait(after: version, atMost: pause)
      }
    }
  }

  /// - Returns: how long there is nothing to do.
  private func endShares() async -> Duration {
    do {
      while try await endBatch() > 0 {}
      guard let next = try await database.readOnce({ db in try ShareStore.nextEnd(on: db) }) else {
        return pollInterval
      }
      return min(pollInterval, max(.milliseconds(50), .seconds(next.timeIntervalSince(now()))))
    } catch {
      logger.warning("shares not ended", metadata: ["error": "\(error)"])
      return pollInterval
    }
  }

  private func endBatch() async throws -> Int {
    let (now, engine) = (now(), database.engine)
    // A transaction that writes waits for others: none is begun for nothing.
    guard let next = try await database.readOnce({ db in try ShareStore.nextEnd(on: db) }), next <= now else {
      return 0
    }
    return try await database.write { db in
      let ended = try ShareStore.end(at: now, on: db)
      for share in ended { try ShareEvents(engine: engine).ended(share.key, of: share.owner, at: now, on: db) }
      return ended.count
    }
  }
}
