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
  static let uniqueIndex = "idempotency_key_unique"
  private static let retentionSeconds = 86_400.0
  private static let claimSeconds = 60.0

  private let keys: DataKeys
  private let keyDigester: DataKeys.Digester
  private let contentDigester: DataKeys.Digester

  init(keys: DataKeys) {
    self.keys = keys
    keyDigester = keys.digester(for: "idempotency key")
    contentDigester = keys.digester(for: "idempotency body")
  }

  func hashed(_ call: IdempotentCall) -> HashedCall {
    HashedCall(
      call: call, keyHashes: keyDigester.digests(of: Data(call.key.utf8)),
      contentHashes: contentDigester.digests(of: call.content))
  }

  /// The stored reply; nil when there is no record, or only an expired one.
  ///
  /// - Throws: 422 when the key was used for another request, 409 while the first request still runs.
  func reply(to call: HashedCall, at now: Date, on db: any Connection) throws -> Reply? {
    try reply(to: call, in: records(of: call, on: db), at: now)
  }

  /// The same for a transaction that inserts a record when there is none: an expired one is deleted.
  func replyBeforeInsert(to call: HashedCall, at now: Date, on db: any Connection) throws -> Reply? {
    let records = try records(of: call, on: db)
    if let reply = try reply(to: call, in: records, at: now) { return reply }
    if !records.isEmpty {
      try db.enqueue(
        """
        delete from idempotency_key where caller = \(call.caller) and route = \(call.route)
          and key_hash in (\(list: call.keyHashes)) and (created_at <= \(now - Self.retentionSeconds)
            or (state = 'claimed' and claimed_at <= \(now - Self.claimSeconds)))
        """)
    }
    return nil
  }

  /// Several only while a key of DATA_KEYS is being replaced.
  private func records(of call: HashedCall, on db: any Connection) throws -> [Row] {
    try db.rows(
      """
      select key_hash, body_hash, state, claimed_at, created_at, status, content_type, reply from idempotency_key
      where caller = \(call.caller) and route = \(call.route) and key_hash in (\(list: call.keyHashes))
      """)
  }

  private func reply(to call: HashedCall, in records: [Row], at now: Date) throws -> Reply? {
    let record = try records.first { record in
      try record.get("created_at") > now - Self.retentionSeconds
        && (record.get("state") == "done" || record.get("claimed_at") > now - Self.claimSeconds)
    }
    guard let record else { return nil }
    guard call.contentHashes.contains(try record.get("body_hash")) else { throw Failure.idempotencyKeyReused }
    guard try record.get("state") == "done" else { throw Failure.idempotencyKeyInUse }
    let body = try keys.open(try record.get("reply"), purpose: Self.replyPurpose(try record.get("key_hash")))
    var reply = Reply(status: try record.get("status"), contentType: try record.get("content_type"), body: body)
    reply.isRepeated = true
    return reply
  }

  /// Inserts the record of a request that is done. The violation of ``uniqueIndex`` by a concurrent request with the
  /// same key is thrown by the commit.
  func insert(_ call: HashedCall, reply: Reply, at now: Date, on db: any Connection) throws {
    let sealed = try keys.seal(reply.body, purpose: Self.replyPurpose(call.keyHash))
    try db.enqueue(
      """
      insert into idempotency_key
        (caller, route, key_hash, body_hash, state, claimed_at, created_at, status, content_type, reply)
      values (\(call.caller), \(call.route), \(call.keyHash), \(call.contentHash), 'done', \(now), \(now),
        \(reply.status), \(reply.contentType), \(sealed))
      """)
  }

  /// Inserts the record of a request that runs. A violation is thrown in the same way.
  func insert(_ call: HashedCall, claim: String, at now: Date, on db: any Connection) throws {
    try db.enqueue(
      """
      insert into idempotency_key (caller, route, key_hash, body_hash, state, claim, claimed_at, created_at)
      values (\(call.caller), \(call.route), \(call.keyHash), \(call.contentHash), 'claimed', \(claim), \(now), \(now))
      """)
  }

  /// Locks the record of a claim until the transaction ends.
  ///
  /// - Throws: 409 when the claim has expired and another request has claimed the key.
  func lock(_ call: HashedCall, claim: String, on db: any Connection) throws {
    let locked = try db.change(
      """
      update idempotency_key set claim = claim where caller = \(call.caller) and route = \(call.route)
        and key_hash = \(call.keyHash) and state = 'claimed' and claim = \(claim)
      """)
    guard locked == 1 else { throw Failure.idempotencyKeyInUse }
  }

  /// Stores the reply of a claimed request.
  ///
  /// - Throws: 409 when the record no longer has this claim; the transaction must then roll back.
  func finish(_ call: HashedCall, with reply: Reply, claim: String, on db: any Connection) throws {
    let sealed = try keys.seal(reply.body, purpose: Self.replyPurpose(call.keyHash))
    let finished = try db.change(
      """
      update idempotency_key set state = 'done', status = \(reply.status), content_type = \(reply.contentType),
        reply = \(sealed)
      where caller = \(call.caller) and route = \(call.route) and key_hash = \(call.keyHash) and state = 'claimed'
        and claim = \(claim)
      """)
    guard finished == 1 else { throw Failure.idempotencyKeyInUse }
  }

  /// Releases a claim after a failure that is not stored.
  func release(_ call: HashedCall, claim: String, on db: any Connection) throws {
    try db.change(
      """
      delete from idempotency_key where caller = \(call.caller) and route = \(call.route)
        and key_hash = \(call.keyHash) and state = 'claimed' and claim = \(claim)
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

  /// Binds a sealed reply to its row, so that it cannot be moved to another.
  private static func replyPurpose(_ hash: [UInt8]) -> String { "idempotency reply \(Base64URL.encode(hash))" }
}

/// An idempotent call with the hashes of its key and content under all of DATA_KEYS. A new record has the first of
/// them, an old one may have any.
struct HashedCall: Sendable {
  let call: IdempotentCall
  fileprivate let keyHashes: [[UInt8]]
  fileprivate let contentHashes: [[UInt8]]

  fileprivate var caller: String { call.caller }
  fileprivate var route: String { call.route }
  fileprivate var keyHash: [UInt8] { keyHashes[0] }
  fileprivate var contentHash: [UInt8] { contentHashes[0] }
}
