import Database
import Foundation
import Logging
import ServiceLifecycle
import Web

/// Writes down that what has an end has ended, and tells its channels. What anybody sees does not depend on it: a share
/// is inactive, and a hunt is over, from its last second on.
struct ExpiryJob: Service {
  /// What ends.
  struct Kind: Sendable {
    /// For the log.
    let name: String
    /// When the next one ends.
    let next: @Sendable (_ now: Date, any Connection) throws -> Date?
    /// Ends those whose time is over, at most a batch, and returns how many.
    let end: @Sendable (_ now: Date, Engine, any Connection) throws -> Int
  }

  let kind: Kind
  let database: any Database
  /// Sent when an end was set or moved.
  let changes: ChangeSignal
  /// After this time it looks for ends of which no signal has told: another replica's.
  let pollInterval: Duration
  let logger: Logger
  let now: @Sendable () -> Date

  func run() async throws {
    await cancelWhenGracefulShutdown {
      while !Task.isCancelled {
        let version = changes.version
        let pause = await endAll()
        await changes.wait(after: version, atMost: pause)
      }
    }
  }

  /// - Returns: how long there is nothing to do.
  private func endAll() async -> Duration {
    do {
      while try await endBatch() > 0 {}
      guard let next = try await nextEnd() else { return pollInterval }
      return min(pollInterval, max(.milliseconds(50), .seconds(next.timeIntervalSince(now()))))
    } catch {
      logger.warning("\(kind.name) not ended", metadata: ["error": "\(error)"])
      return pollInterval
    }
  }

  private func nextEnd() async throws -> Date? {
    let now = now()
    return try await database.readOnce { [kind] db in try kind.next(now, db) }
  }

  private func endBatch() async throws -> Int {
    let (now, engine) = (now(), database.engine)
    // A transaction that writes waits for others: none is begun for nothing.
    guard let next = try await nextEnd(), next <= now else { return 0 }
    return try await database.write { [kind] db in try kind.end(now, engine, db) }
  }
}

extension ExpiryJob.Kind {
  static let shares = Self(
    name: "shares", next: { _, db in try ShareStore.nextEnd(on: db) },
    end: { now, engine, db in
      let ended = try ShareStore.end(at: now, on: db)
      for share in ended { try ShareEvents(engine: engine).ended(share.key, of: share.owner, at: now, on: db) }
      return ended.count
    })

  static let hunts = Self(
    name: "hunts", next: { now, db in try HuntEndStore.nextEnd(at: now, on: db) },
    end: { now, _, db in
      let ended = try HuntEndStore.end(at: now, on: db)
      for hunt in ended { HuntEvents.ended(hunt.id, of: hunt.creator, at: now, on: db) }
      return ended.count
    })
}
