import Database
import Foundation
import Logging
import Measures
import ServiceLifecycle
import Tokens
import Web
import Wire

/// Messages to the world: written in the transaction of their cause, sent afterwards, at least once, by whichever replica
/// comes first. As an ``inbox``: news from the world, stored before it is answered for, worked on afterwards.
package struct Outbox: Service {
  private let store: PostStore
  private let database: any Database
  private let deliveries: [String: Delivery]
  private let measures: OutboxMeasures
  private let logger: Logger
  private let now: @Sendable () -> Date
  private let backoff: Backoff
  private let pace: Pace
  private let bell = Bell()

  package static let migration = PostStore.migration(of: "outbox")
  package static let inboxMigration = PostStore.migration(of: "inbox")

  /// - Parameters:
  ///   - table: `outbox`, or `inbox` for news from the world.
  ///   - deliveries: one for each kind of message.
  package init(
    _ table: String = "outbox", database: any Database, keys: DataKeys, in surroundings: Surroundings,
    backoff: Backoff = Backoff(), pace: Pace = Pace(), deliveries: [Delivery]
  ) {
    self.store = PostStore(table: table, keys: keys)
    self.database = database
    self.deliveries = Dictionary(deliveries.map { ($0.kind, $0) }) { $1 }
    self.measures = OutboxMeasures(table, in: surroundings.registry)
    self.logger = surroundings.logger
    self.now = surroundings.now
    self.backoff = backoff
    self.pace = pace
  }

  /// Writes a message in the transaction of its cause. Call ``ring()`` when that has committed, or it waits a second.
  ///
  /// - Parameters:
  ///   - once: names the cause; a second message of the same kind and cause is not written.
  ///   - user: who is forgotten with it.
  ///   - order: messages of one order are sent one after the other, as they were written by transactions that waited for
  ///     each other. No personal data: it is not sealed.
  /// - Returns: false when it was there already.
  @discardableResult
  package func add(
    _ kind: String, _ content: some Encodable, once: String? = nil, user: UserID? = nil, order: String? = nil,
    at now: Date, on db: any Connection
  ) throws -> Bool {
    let lasting = deliveries[kind]?.giveUpAfter ?? Delivery.day
    return try store.add(
      kind, try JSON.encodeExact(content), once: once, user: user, order: order, giveUpAt: now + lasting.seconds,
      at: now, on: db)
  }

  /// Something was written: do not wait for the next look.
  package func ring() { bell.ring() }

  /// Forgets every message of a user's, sent or not.
  package func erase(_ user: UserID, on db: any Connection) throws { try store.erase(user, on: db) }

  /// Sends until graceful shutdown.
  package func run() async throws {
    let leases = store.leases(lasting: leaseLasting)
    let worker = Worker(
      leases: leases, database: database, logger: logger, now: now, bell: bell, pace: pace
    ) { try await attempt($0, leases) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await worker.run() }
      group.addTask { await tidy() }
      try await group.waitForAll()
    }
  }

  /// Longer than any try: a lease that ran out while its worker still sends would send twice.
  private var leaseLasting: Duration {
    (deliveries.values.map(\.timeout).max() ?? .zero) + .seconds(30)
  }

  private func attempt(_ leased: Leased, _ leases: Leases) async throws {
    let kind = try leased.row.get("kind", as: String.self)
    guard let delivery = deliveries[kind] else {
      // A newer version's, which will send it.
      return try await postpone(leased, kind, by: backoff.longest, leases, because: "unknown kind")
    }
    do {
      try await delivery.carryOut(try store.post(leased))
      try await settle(leased, kind, as: .done)
    } catch  where Task.isCancelled {
      try await postpone(leased, kind, by: delivery.waitWhenUnknown, leases, because: "stopped")
    } catch let refusal as Undeliverable {
      try await giveUp(leased, kind, because: refusal.reason)
    } catch {
      let least = error is TookTooLong ? delivery.waitWhenUnknown : (error as? TryLater)?.wait ?? .zero
      let wait = max(least, backoff.wait(after: leased.tries))
      let isTooLate = try now() + wait.seconds >= leased.row.get("give_up_at")
      if isTooLate { return try await giveUp(leased, kind, because: "\(error)") }
      try await postpone(leased, kind, by: wait, leases, because: "\(error)")
    }
  }

  private func settle(_ leased: Leased, _ kind: String, as outcome: Outcome) async throws {
    let now = now()
    // Also while the process stops: what was sent must not be sent again.
    let isOurs = try await Task { [database, store] in
      try await database.write { db in try store.settle(leased, as: outcome.rawValue, at: now, on: db) }
    }.value
    if isOurs { measures.count(kind, outcome) }
  }

  private func giveUp(_ leased: Leased, _ kind: String, because reason: String) async throws {
    logger.error(
      "given up",
      metadata: [
        "table": "\(store.table.text)", "kind": "\(kind)", "id": "\(leased.key)", "tries": "\(leased.tries)",
        "error": "\(reason)",
      ])
    try await settle(leased, kind, as: .givenUp)
  }

  private func postpone(
    _ leased: Leased, _ kind: String, by wait: Duration, _ leases: Leases, because reason: String
  ) async throws {
    measures.count(kind, .postponed)
    logger.notice(
      "postponed",
      metadata: [
        "table": "\(store.table.text)", "kind": "\(kind)", "id": "\(leased.key)", "tries": "\(leased.tries)",
        "wait_seconds": "\(Int(wait.seconds))", "error": "\(reason)",
      ])
    let due = now() + wait.seconds
    // Also while the process stops: the next one should not have to wait for the lease.
    try await Task { [database] in
      _ = try await database.write { db in try leases.postpone(leased, until: due, on: db) }
    }.value
  }

  /// Measures the depth, and forgets what was settled a week ago.
  private func tidy() async {
    await cancelWhenGracefulShutdown {
      while !Task.isCancelled {
        do {
          let now = now()
          let depths = try await database.read { [store] db in try store.depths(on: db) }
          measures.show(depths, of: deliveries.keys, at: now)
          try await database.write { [store] db in try store.sweep(before: now - 7 * 86_400, limit: 500, on: db) }
        } catch { logger.warning("not tidied", metadata: ["table": "\(store.table.text)", "error": "\(error)"]) }
        // `try?`: cancelled means that the server stops, which the loop sees.
        try? await Task.sleep(for: .seconds(5))
      }
    }
  }
}

enum Outcome: String { case done, postponed, givenUp = "given_up" }
