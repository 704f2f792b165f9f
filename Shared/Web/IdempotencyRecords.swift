import Database
import Foundation
import Tokens
import Wire

extension Idempotency {
  /// The table that a service needs among its own. Keys and bodies are HMACs in it, replies are sealed.
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

/// Every statement on the table of idempotency keys, each within a transaction of the caller's.
struct IdempotencyRecords: Sendable {
  let keys: DataKeys

  private static let keptSeconds = 86_400.0
  private static let claimSeconds = 60.0

  /// Makes the record that the caller then finishes, or returns the reply that is there. A twin that is about to commit
  /// is waited for.
  func begin(_ call: IdempotentCall, claim: String?, at now: Date, on db: any Connection) throws -> Reply? {
    let (hashes, contents) = (keyHashes(of: call), contentHashes(of: call))
    try db.change(
      """
      delete from idempotency_key where caller = \(call.caller) and route = \(call.route)
        and key_hash in (\(list: hashes)) and (created_at <= \(now - Self.keptSeconds)
          or (state = 'claimed' and claimed_at <= \(now - Self.claimSeconds)))
      """)
    // A record made under a former key of DATA_KEYS does not collide with a new one.
    if let earlier = try reply(to: call, at: now, on: db) { return earlier }
    let made = try db.change(
      """
      insert into idempotency_key (caller, route, key_hash, body_hash, state, claim, claimed_at, created_at)
      values (\(call.caller), \(call.route), \(hashes[0]), \(contents[0]), 'claimed', \(claim), \(now), \(now))
      on conflict (caller, route, key_hash) do nothing
      """)
    if made == 1 { return nil }
    guard let earlier = try reply(to: call, at: now, on: db) else { throw DatabaseFailure.contended }
    return earlier
  }

  /// What was answered; nil when nobody has asked, or so long ago that it is forgotten.
  ///
  /// - Throws: 422 when the key was used for something else, 409 while the first still runs.
  func reply(to call: IdempotentCall, at now: Date, on db: any Connection) throws -> Reply? {
    let row = try db.row(
      """
      select key_hash, body_hash, state, claimed_at, status, content_type, reply from idempotency_key
      where caller = \(call.caller) and route = \(call.route) and key_hash in (\(list: keyHashes(of: call)))
        and created_at > \(now - Self.keptSeconds)
      """)
    guard let row else { return nil }
    let isLapsed = try row.get("state") == "claimed" && row.get("claimed_at") <= now - Self.claimSeconds
    if isLapsed { return nil }
    guard contentHashes(of: call).contains(try row.get("body_hash")) else { throw Failure.idempotencyKeyReused }
    guard try row.get("state") == "done" else { throw Failure.idempotencyKeyInUse }
    let body = try keys.open(try row.get("reply"), purpose: Self.replyPurpose(try row.get("key_hash")))
    var reply = Reply(status: try row.get("status"), contentType: try row.get("content_type"), body: body)
    reply.isHit = true
    return reply
  }

  /// Locks the record of a claim until the transaction ends.
  ///
  /// - Throws: 409 when the claim has lapsed and somebody else has taken the key.
  func hold(_ call: IdempotentCall, claim: String, on db: any Connection) throws {
    let held = try db.change(
      """
      update idempotency_key set claim = claim where caller = \(call.caller) and route = \(call.route)
        and key_hash = \(keyHashes(of: call)[0]) and state = 'claimed' and claim = \(claim)
      """)
    guard held == 1 else { throw Failure.idempotencyKeyInUse }
  }

  /// - Throws: 409 when the record is not this claim's any more; the transaction must then roll back.
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

  /// Gives a claim back after a failure that is not kept.
  func abandon(_ call: IdempotentCall, claim: String, on db: any Connection) throws {
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
        select caller, route, key_hash from idempotency_key where created_at <= \(now - Self.keptSeconds)
        order by created_at limit \(limit))
      """)
  }

  private func keyHashes(of call: IdempotentCall) -> [[UInt8]] {
    keys.digests(of: Data(call.key.utf8), purpose: "idempotency key")
  }

  private func contentHashes(of call: IdempotentCall) -> [[UInt8]] {
    keys.digests(of: call.content, purpose: "idempotency body")
  }

  /// Names the row, so that one row's reply cannot be put into another.
  private static func replyPurpose(_ hash: [UInt8]) -> String { "idempotency reply \(Base64URL.encode(hash))" }
}
