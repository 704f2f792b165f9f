import Database
import Foundation
import Tokens
import Wire

extension Idempotency {
  /// The table, to be added to a service's migrations. Keys and bodies are stored as HMACs, replies encrypted.
  package static let migration = Migration(
    "idempotency",
    """
    create table idempotency_key (
      caller text not null,
      route text not null,
      key_hash bytea not null,
      body_hash bytea not null,
      state text not null,
      claim text,
      claimed_at timestamptz not null,
      created_at timestamptz not null,
      status bigint,
      content_type text,
      reply bytea,
      constraint idempotency_key_state check (state in ('claimed', 'done')),
      constraint idempotency_key_reply check (state = 'claimed' or (status is not null and reply is not null))
    );
    create unique index idempotency_key_unique on idempotency_key (caller, route, key_hash);
    create index idempotency_key_age on idempotency_key (created_at);
    """)
}

/// Every statement on `idempotency_key`, each within a transaction of the caller.
struct IdempotencyStore: Sendable {
  let keys: DataKeys

  private static let retentionSeconds = 86_400.0
  private static let claimSeconds = 60.0

  /// Inserts the record, which the caller then finishes, or returns the stored reply. Waits for a concurrent
  /// transaction with the same key.
  func begin(_ call: IdempotentCall, claim: String?, at now: Date, on db: any Connection) throws -> Reply? {
    let (hashes, contents) = (keyHashes(of: call), contentHashes(of: call))
    try db.change(
      """
      delete from idempotency_key where caller = \(call.caller) and route = \(call.route)
        and key_hash in (\(list: hashes)) and (created_at <= \(now - Self.retentionSeconds)
          or (state = 'claimed' and claimed_at <= \(now - Self.claimSeconds)))
      """)
    // A record under a previous key of DATA_KEYS does not conflict with the new row.
    if let stored = try reply(to: call, at: now, on: db) { return stored }
    let inserted = try db.change(
      """
      insert into idempotency_key (caller, route, key_hash, body_hash, state, claim, claimed_at, created_at)
      values (\(call.caller), \(call.route), \(hashes[0]), \(contents[0]), 'claimed', \(claim), \(now), \(now))
      on conflict (caller, route, key_hash) do nothing
      """)
    if inserted == 1 { return nil }
    guard let stored = try reply(to: call, at: now, on: db) else { throw DatabaseFailure.contended }
    return stored
  }

  /// The stored reply; nil when there is no record, or only an expired one.
  ///
  /// - Throws: 422 when the key was used for another request, 409 while the first request still runs.
  func reply(to call: IdempotentCall, at now: Date, on db: any Connection) throws -> Reply? {
    let row = try db.row(
      """
      select key_hash, body_hash, state, claimed_at, status, content_type, reply from idempotency_key
      where caller = \(call.caller) and route = \(call.route) and key_hash in (\(list: keyHashes(of: call)))
        and created_at > \(now - Self.retentionSeconds)
      """)
    guard let row else { return nil }
    let isExpired = try row.get("state") == "claimed" && row.get("claimed_at") <= now - Self.claimSeconds
    if isExpired { return nil }
    guard contentHashes(of: call).contains(try row.get("body_hash")) else { throw Failure.idempotencyKeyReused }
    guard try row.get("state") == "done" else { throw Failure.idempotencyKeyInUse }
    let body = try keys.open(try row.get("reply"), purpose: Self.replyPurpose(try row.get("key_hash")))
    var reply = Reply(status: try row.get("status"), contentType: try row.get("content_type"), body: body)
    reply.isRepeated = true
    return reply
  }

  /// Locks the record of a claim until the transaction ends.
  ///
  /// - Throws: 409 when the claim has expired and another request has claimed the key.
  func lock(_ call: IdempotentCall, claim: String, on db: any Connection) throws {
    let locked = try db.change(
      """
      update idempotency_key set claim = claim where caller = \(call.caller) and route = \(call.route)
        and key_hash = \(keyHashes(of: call)[0]) and state = 'claimed' and claim = \(claim)
      """)
    guard locked == 1 else { throw Failure.idempotencyKeyInUse }
  }

  /// Stores the reply.
  ///
  /// - Throws: 409 when the record no longer has this claim; the transaction must then roll back.
  func finish(_ call: IdempotentCall, with reply: Reply, claim: String?, on db: any Connection) throws {
    let hash = keyHashes(of: call)[0]
    let sealed = try keys.seal(reply.body, purpose: Self.replyPurpose(hash))
    let finished = try db.change(
      """
      update idempotency_key set state = 'done', status = \(reply.status), content_type = \(reply.contentType),
        reply = \(sealed)
      where caller = \(call.caller) and route = \(call.route) and key_hash = \(hash) and state = 'claimed'
        and coalesce(claim, '') = \(claim ?? "")
      """)
    guard finished == 1 else { throw Failure.idempotencyKeyInUse }
  }

  /// Releases a claim after a failure that is not stored.
  func release(_ call: IdempotentCall, claim: String, on db: any Connection) throws {
    try db.change(
      """
      delete from idempotency_key where caller = \(call.caller) and route = \(call.route)
        and key_hash = \(keyHashes(of: call)[0]) and state = 'claimed' and claim = \(claim)
      """)
  }

  func sweep(before now: Date, limit: Int, on db: any Connection) throws -> Int {
    try db.change(
      """
      delete from idempotency_key where (caller, route, key_hash) in (
        select caller, route, key_hash from idempotency_key where created_at <= \(now - Self.retentionSeconds)
        order by created_at limit \(limit))
      """)
  }

  private func keyHashes(of call: IdempotentCall) -> [[UInt8]] {
    keys.digests(of: Data(call.key.utf8), purpose: "idempotency key")
  }

  private func contentHashes(of call: IdempotentCall) -> [[UInt8]] {
    keys.digests(of: call.content, purpose: "idempotency body")
  }

  /// Binds a sealed reply to its row, so that it cannot be moved to another.
  private static func replyPurpose(_ hash: [UInt8]) -> String { "idempotency reply \(Base64URL.encode(hash))" }
}
