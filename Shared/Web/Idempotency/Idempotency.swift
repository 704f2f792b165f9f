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

  /// For an effect that is one transaction: the record commits together with it. Concurrent requests with the same key
  /// wait for each other.
  ///
  /// - Parameters:
  ///   - call: nil runs `check` and `effect` without a record.
  ///   - check: calls to other services that come first. It may run for a request that turns out to be a repetition, so
  ///     it must be safe to repeat.
  package func once(
    _ call: IdempotentCall?, check: () async throws -> Void = {},
    effect: @escaping @Sendable (any Connection) throws -> Reply
  ) async throws -> Reply {
    try await once(call, check: check) { _, db in try effect(db) }
  }

  /// The same for an effect that needs the result of `check`.
  package func once<T: Sendable>(
    _ call: IdempotentCall?, check: () async throws -> T,
    effect: @escaping @Sendable (T, any Connection) throws -> Reply
  ) async throws -> Reply {
    guard let call else {
      let checked = try await check()
      return try await database.write { try effect(checked, $0) }
    }
    if let stored = try await storedReply(to: call) { return stored }
    do {
      let (checked, now) = (try await check(), now())
      return try await database.write { [store] db in
        if let stored = try store.begin(call, claim: nil, at: now, on: db) { return stored }
        let reply = try effect(checked, db)
        try store.finish(call, with: reply, claim: nil, on: db)
        return reply
      }
    } catch let failure as Failure where failure.isPermanent {
      return try await record(failure, of: call)
    }
  }

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
    let (claim, startedAt) = (UUID().uuidString, now())
    let stored = try await database.write { [store] in try store.begin(call, claim: claim, at: startedAt, on: $0) }
    if let stored { return stored }
    do {
      let result = try await steps()
      return try await database.write { [store] db in
        // First, so that a request that takes the claim over waits for this transaction, or this one throws.
        try store.lock(call, claim: claim, on: db)
        let reply = try effect(result, db)
        try store.finish(call, with: reply, claim: claim, on: db)
        return reply
      }
    } catch let failure as Failure where failure.isPermanent && failure != .idempotencyKeyInUse {
      let reply = failure.reply(to: call)
      try await database.write { [store] in try store.finish(call, with: reply, claim: claim, on: $0) }
      return reply
    } catch let error where !error.isOutcomeUnknown {
      // `try?`: a claim that is not released expires.
      try? await database.write { [store] in try store.release(call, claim: claim, on: $0) }
      throw error
    }
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

  private func storedReply(to call: IdempotentCall) async throws -> Reply? {
    let now = now()
    return try await database.read { [store] in try store.reply(to: call, at: now, on: $0) }
  }

  private func record(_ failure: Failure, of call: IdempotentCall) async throws -> Reply {
    let (now, reply) = (now(), failure.reply(to: call))
    return try await database.write { [store] db in
      if let stored = try store.begin(call, claim: nil, at: now, on: db) { return stored }
      try store.finish(call, with: reply, claim: nil, on: db)
      return reply
    }
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
