import Database
import Foundation
import Hummingbird
import Tokens
import Wire

/// Repeats the first reply for requests with the same `Idempotency-Key`, for 24 hours.
///
/// Successes and permanent failures are stored; transient failures (5xx, 429) and 401 are not.
package struct Idempotency: Sendable {
  private let database: any Database
  private let store: IdempotencyStore
  private let now: @Sendable () -> Date

  package init(database: any Database, keys: DataKeys, now: @escaping @Sendable () -> Date) {
    self.database = database
    self.store = IdempotencyStore(keys: keys)
    self.now = now
  }

  /// For an effect that is one transaction, which ends with the insertion of the record and its reply. Of concurrent
  /// requests with the same key one commits; the others, whose `effect` may have run, roll back and return its reply.
  ///
  /// - Parameter call: nil runs `effect` without a record.
  package func once(
    _ call: IdempotentCall?, effect: @escaping @Sendable (any Connection) throws -> Reply
  ) async throws -> Reply {
    guard let call else { return try await database.write(effect) }
    return try await record(store.hashed(call), effect: effect)
  }

  /// The same for an effect that needs the result of `check`.
  ///
  /// - Parameter check: calls to other services, before the transaction and not for a request whose reply is stored. It
  ///   may run for a request that turns out to be a repetition, so it must be safe to repeat.
  package func once<T: Sendable>(
    _ call: IdempotentCall?, check: () async throws -> T,
    effect: @escaping @Sendable (T, any Connection) throws -> Reply
  ) async throws -> Reply {
    guard let call else {
      let checked = try await check()
      return try await database.write { try effect(checked, $0) }
    }
    let hashed = store.hashed(call)
    if let stored = try await storedReply(to: hashed) { return stored }
    let checked: T
    do { checked = try await check() } catch let failure as Failure where failure.isPermanent {
      return try await record(hashed) { _ in throw failure }
    }
    return try await record(hashed) { try effect(checked, $0) }
  }

  /// The reply to a request that has been made before, for callers that do more than `check` before the transaction.
  ///
  /// - Throws: 422 when the key was used for another request, 409 while the first request still runs.
  package func reply(to call: IdempotentCall) async throws -> Reply? { try await storedReply(to: store.hashed(call)) }

  /// For an effect of several steps: the key is claimed before the first step, and the last commits with the reply.
  ///
  /// - Parameter steps: each must be idempotent by itself: after 60 s another request may claim the key and repeat it.
  /// - Throws: 409 while another request has the claim, and when this request's claim has expired: `effect` is then
  ///   rolled back.
  package func claimed<T: Sendable>(
    _ call: IdempotentCall?, steps: () async throws -> T,
    effect: @escaping @Sendable (T, any Connection) throws -> Reply
  ) async throws -> Reply {
    guard let call else {
      let result = try await steps()
      return try await database.write { try effect(result, $0) }
    }
    let (hashed, claim) = (store.hashed(call), UUID().uuidString)
    if let stored = try await begin(hashed, claim: claim) { return stored }
    do {
      let result = try await steps()
      return try await database.write { [store] db in
        // First, so that a request that takes the claim over waits for this transaction, or this one throws.
        try store.lock(hashed, claim: claim, on: db)
        let reply = try effect(result, db)
        try store.finish(hashed, with: reply, claim: claim, on: db)
        return reply
      }
    } catch let failure as Failure where failure.isPermanent && failure != .idempotencyKeyInUse {
      let reply = failure.reply(to: call)
      try await writeEvenIfCancelled { [store] in try store.finish(hashed, with: reply, claim: claim, on: $0) }
      return reply
    } catch let error where !error.isOutcomeUnknown {
      // `try?`: a claim that is not released expires.
      try? await writeEvenIfCancelled { [store] in try store.release(hashed, claim: claim, on: $0) }
      throw error
    }
  }

  /// A request that was cancelled at its deadline ends its claim, too, which it would otherwise keep for a minute.
  private func writeEvenIfCancelled(_ body: @escaping @Sendable (any Connection) throws -> Void) async throws {
    // Detached: the deadline has passed.
    try await Task.detached { [database] in try await database.write(body) }.value
  }

  /// Deletes records older than 24 hours, at most `limit`, and returns how many.
  package func sweep(limit: Int = 500) async throws -> Int {
    let now = now()
    return try await database.write { [store] in try store.sweep(before: now, limit: limit, on: $0) }
  }

  /// Deletes the records of a user's requests.
  package static func erase(_ user: UserID, on db: any Connection) throws {
    try db.change("delete from idempotency_key where caller = \(user.description)")
  }

  private func storedReply(to call: HashedCall) async throws -> Reply? {
    let now = now()
    return try await database.readOnce { [store] in try store.reply(to: call, at: now, on: $0) }
  }

  /// Runs `effect` and stores its reply or permanent failure, or returns the stored reply.
  private func record(
    _ call: HashedCall, effect: @escaping @Sendable (any Connection) throws -> Reply
  ) async throws -> Reply {
    do { return try await storedOrNewReply(to: call, effect) } catch let failure as Failure where failure.isPermanent {
      // The effect is rolled back. A concurrent request with the same key may be the reason for the failure: its reply
      // is stored by now.
      let reply = failure.reply(to: call.call)
      return try await storedOrNewReply(to: call) { _ in reply }
    }
  }

  private func storedOrNewReply(
    to call: HashedCall, _ effect: @escaping @Sendable (any Connection) throws -> Reply
  ) async throws -> Reply {
    let now = now()
    return try await afterConflict {
      try await database.write { [store] db in
        if let stored = try store.replyBeforeInsert(to: call, at: now, on: db) { return stored }
        let reply = try effect(db)
        try store.insert(call, reply: reply, at: now, on: db)
        return reply
      }
    }
  }

  private func begin(_ call: HashedCall, claim: String) async throws -> Reply? {
    let now = now()
    return try await afterConflict {
      try await database.write { [store] db in
        if let stored = try store.replyBeforeInsert(to: call, at: now, on: db) { return stored }
        try store.insert(call, claim: claim, at: now, on: db)
        return nil
      }
    }
  }

  /// Runs the transaction again when a concurrent one has inserted the record: the next run finds it.
  private func afterConflict<T>(_ transaction: () async throws -> T) async throws -> T {
    for _ in 0..<3 {
      do { return try await transaction() } catch DatabaseFailure.unique(IdempotencyStore.uniqueIndex) {}
    }
    throw DatabaseFailure.contended
  }
}

extension Failure {
  /// Whether a repetition would fail in the same way. Failures that are about the key itself are not stored.
  fileprivate var isPermanent: Bool {
    switch kind {
    case .paymentRequired, .forbidden, .notFound, .conflict, .gone, .unprocessable:
      self != .idempotencyKeyReused && self != .idempotencyKeyInUse
    default: false
    }
  }

  fileprivate func reply(to call: IdempotentCall) -> Reply {
    let problem = Problem(self, as: APIDialect(path: call.path), requestID: call.requestID)
    // `try?`: a problem consists of strings and integers, which can always be encoded.
    let body = (try? JSON.encode(problem)) ?? Data()
    return Reply(status: problem.status, contentType: Problem.contentType, body: body)
  }

  package static let idempotencyKeyReused = Failure(
    .unprocessable, "idempotency_key_reused", "This Idempotency-Key was used for another request.")
  package static let idempotencyKeyInUse = Failure(
    .conflict, "idempotency_key_in_use", "The first request with this Idempotency-Key is still running.",
    retryAfterSeconds: 1)
  package static let invalidIdempotencyKey = Failure(
    .malformed, "invalid_idempotency_key", "Idempotency-Key must be 1 to 255 visible ASCII characters.")
}

extension Error {
  fileprivate var isOutcomeUnknown: Bool { self as? DatabaseFailure == .outcomeUnknown }
}
