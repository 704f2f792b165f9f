import Database
import Foundation
import Hummingbird
import Tokens
import Wire

/// Answers a request that comes twice under one `Idempotency-Key` as it answered the first, for 24 hours.
///
/// Successes and definite refusals are kept. What may pass (5xx, 429) or was about the caller (401) is not.
package struct Idempotency: Sendable {
  private let database: any Database
  private let records: IdempotencyRecords
  private let now: @Sendable () -> Date

  package init(database: any Database, keys: DataKeys, now: @escaping @Sendable () -> Date) {
    self.database = database
    self.records = IdempotencyRecords(keys: keys)
    self.now = now
  }

  /// For an effect that is one transaction: the record commits with it, or neither does. Twins wait for each other.
  ///
  /// - Parameters:
  ///   - call: nil does everything but keep a record.
  ///   - check: what has to be asked of others first. It may run for a request that then turns out to be a twin, so it
  ///     must be safe to repeat.
  package func once(
    _ call: IdempotentCall?, check: () async throws -> Void = {},
    effect: @escaping @Sendable (any Connection) throws -> Reply
  ) async throws -> Reply {
    try await once(call, check: check) { _, db in try effect(db) }
  }

  /// The same for an effect that needs what others have said.
  package func once<T: Sendable>(
    _ call: IdempotentCall?, check: () async throws -> T,
    effect: @escaping @Sendable (T, any Connection) throws -> Reply
  ) async throws -> Reply {
    guard let call else {
      let found = try await check()
      return try await database.write { try effect(found, $0) }
    }
    if let earlier = try await earlier(call) { return earlier }
    do {
      let (found, now) = (try await check(), now())
      return try await database.write { [records] db in
        if let earlier = try records.begin(call, claim: nil, at: now, on: db) { return earlier }
        let reply = try effect(found, db)
        try records.finish(call, with: reply, claim: nil, on: db)
        return reply
      }
    } catch let refusal as Failure where refusal.isDefinite {
      return try await keep(refusal, of: call)
    }
  }

  /// For an effect of several steps: the key is claimed before the first, and the last commits with the reply.
  ///
  /// - Parameter steps: each idempotent by something of its own: after 60 s another may claim the key and take them again.
  /// - Throws: 409 while another has the claim, and when this one has lapsed: then nothing of `effect` is there.
  package func claimed<T: Sendable>(
    _ call: IdempotentCall?, steps: () async throws -> T,
    effect: @escaping @Sendable (T, any Connection) throws -> Reply
  ) async throws -> Reply {
    guard let call else {
      let result = try await steps()
      return try await database.write { try effect(result, $0) }
    }
    let (claim, began) = (UUID().uuidString, now())
    let earlier = try await database.write { [records] in try records.begin(call, claim: claim, at: began, on: $0) }
    if let earlier { return earlier }
    do {
      let result = try await steps()
      return try await database.write { [records] db in
        // First of all, so that whoever takes over waits for this transaction, or this one finds that it came too late.
        try records.hold(call, claim: claim, on: db)
        let reply = try effect(result, db)
        try records.finish(call, with: reply, claim: claim, on: db)
        return reply
      }
    } catch let refusal as Failure where refusal.isDefinite && refusal != .idempotencyKeyInUse {
      let reply = refusal.reply(to: call)
      try await database.write { [records] in try records.finish(call, with: reply, claim: claim, on: $0) }
      return reply
    } catch let failure where !failure.isOutcomeUnknown {
      // `try?`: a claim that cannot be given back lapses.
      try? await database.write { [records] in try records.abandon(call, claim: claim, on: $0) }
      throw failure
    }
  }

  /// Forgets what is older than 24 hours, at most `limit` rows. Says how many.
  package func sweep(limit: Int = 500) async throws -> Int {
    let now = now()
    return try await database.write { [records] in try records.sweep(before: now, limit: limit, on: $0) }
  }

  /// Forgets what a user was answered.
  package static func erase(_ user: UserID, on db: any Connection) throws {
    try db.change("delete from idempotency_key where caller = \(user.description)")
  }

  private func earlier(_ call: IdempotentCall) async throws -> Reply? {
    let now = now()
    return try await database.read { [records] in try records.reply(to: call, at: now, on: $0) }
  }

  private func keep(_ refusal: Failure, of call: IdempotentCall) async throws -> Reply {
    let (now, reply) = (now(), refusal.reply(to: call))
    return try await database.write { [records] db in
      if let earlier = try records.begin(call, claim: nil, at: now, on: db) { return earlier }
      try records.finish(call, with: reply, claim: nil, on: db)
      return reply
    }
  }
}

extension Failure {
  /// Asking again as it was asked would be refused again. What is about the key itself is not an answer to keep.
  fileprivate var isDefinite: Bool {
    switch kind {
    case .paymentRequired, .forbidden, .notFound, .conflict, .gone, .unprocessable:
      self != .idempotencyKeyReused && self != .idempotencyKeyInUse
    default: false
    }
  }

  fileprivate func reply(to call: IdempotentCall) -> Reply {
    let problem = Problem(self, as: Dialect(path: call.path), requestID: call.requestID)
    // `try?`: a problem consists of text and numbers, which can be encoded.
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
