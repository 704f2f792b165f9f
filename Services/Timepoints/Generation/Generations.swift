import Database
import Foundation
import Web
import Wire

/// Begins generations, and waits for them.
struct Generations: Sendable {
  let database: any Database
  let charges: Charges
  let worker: GenerationWorker
  let signals: GenerationSignals
  let settings: GenerationSettings
  let now: @Sendable () -> Date

  /// Holds the price, and stores the timepoint and its job. A repeated request with the same key begins nothing.
  ///
  /// - Throws: 402 when there are too few credits, 429 when too many of the user's wait; then nothing was begun.
  func begin(_ new: NewTimepoint) async throws -> Timepoint {
    if let earlier = try await earlier(new) { return earlier }
    try await requireCapacity(for: new.owner)
    let charge = Charge(
      id: ChargeID(new.id.uuid), user: new.owner, operation: new.operation, reference: new.id,
      lifetimeSeconds: GenerationSettings.holdSeconds)
    let hold = new.isCharged ? try await charges.open(charge) : nil
    let (now, activeMax, signals) = (now(), settings.atOncePerUser, signals)
    do {
      try await database.write { db in
        if let hold { try ChargeStore.hold(charge.id, hold, due: nil, on: db) }
        try new.insert(at: now, on: db)
        try GenerationEventStore.append(.start, to: new.id, on: db)
        try GenerationJobStore.insert(new.job(at: now), activeMax: activeMax, at: now, on: db)
        try signals.notifyOfJobs(on: db)
      }
    } catch DatabaseFailure.unique("timepoint_client_key") {
      // The same request came twice at once. The charge of this one is still opening: a worker gives it back.
      guard let earlier = try await earlier(new) else { throw Failure.idempotencyKeyInUse }
      return earlier
    }
    worker.wakeUp()
    return try await timepoint(new.id)
  }

  private func earlier(_ new: NewTimepoint) async throws -> Timepoint? {
    guard let key = new.clientKey else { return nil }
    let row = try await database.readOnce { db in
      try db.row(
        """
        select \(TimepointStore.columns), client_digest from timepoint
        where owner_id = \(new.owner) and client_key = \(key)
        """)
    }
    guard let row else { return nil }
    guard try row.get("client_digest") == new.clientDigest else { throw Failure.idempotencyKeyReused }
    return try Timepoint(row)
  }

  private func requireCapacity(for user: UserID) async throws {
    let mayBegin = try await database.readOnce { db in try GenerationJobStore.mayBegin(user, on: db) }
    guard mayBegin else {
      throw Failure(
        .limited, "too_many_generations", "Too many of your scenes are waiting. Please wait until some are done.",
        retryAfterSeconds: 60)
    }
  }

  private func timepoint(_ id: TimepointID) async throws -> Timepoint {
    let found = try await database.readOnce { db in try TimepointStore.find(id, on: db) }
    guard let found else { throw Failure.timepointNotFound }
    return found
  }

  /// The timepoint once it has ended.
  ///
  /// - Throws: 504 when that takes longer than `GENERATION_TIMEOUT_SECONDS`; the generation goes on.
  func ended(_ id: TimepointID) async throws -> Timepoint {
    let end = ContinuousClock.now + Deadline.remaining(of: settings.timeout)
    return try await signals.watching(.end, of: id) { signal in
      while true {
        let version = signal.version
        let timepoint = try await timepoint(id)
        if timepoint.isEnded { return timepoint }
        let remaining = end - .now
        guard remaining > .zero, !Task.isCancelled else { throw Failure.generationTimeout }
        await signal.wait(after: version, atMost: min(remaining, signals.lookInterval))
      }
    }
  }
}

extension Failure {
  static let generationTimeout = Failure(
    .gatewayTimeout, "generation_timeout", "The scene is not done yet. It will be among your scenes later.",
    retryAfterSeconds: 5)
}
