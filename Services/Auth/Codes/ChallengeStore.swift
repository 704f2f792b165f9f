import Database
import Foundation
import Tokens
import Wire

/// Every statement on challenges. Subjects and codes are HMACs, contents are sealed.
struct ChallengeStore: Sendable {
  let keys: DataKeys

  /// Writes a challenge; of one kind and subject only the newest can be answered.
  func add(
    _ challenge: Challenge, code: OneTimeCode, link: LinkToken?, at now: Date, on db: any Connection
  ) throws {
    let id = ChallengeID.new(at: now)
    let subject = challenge.content.subject
    let sealed = try keys.seal(JSON.encodeExact(challenge.content), purpose: purpose(id))
    try db.change(
      """
      insert into challenge
        (id, kind, subject_hash, account_id, code_hash, token_hash, content, created_at, expires_at)
      values (\(id), \(challenge.kind.rawValue), \(hashes(subject)[0]), \(challenge.account),
        \(code.digest(for: id.description, under: keys)), \(link?.hash), \(sealed), \(now), \(now + challenge.lifetime))
      """)
  }

  /// The newest challenge of these kinds and subject, if `code` is its code. Every call counts as a try; of many right
  /// ones at once, one succeeds. nil must not roll back.
  func answer(
    _ kinds: [Challenge.Kind], _ subject: String, account: UserID? = nil, code: OneTimeCode, at now: Date,
    on db: any Connection
  ) throws -> Answered? {
    let row = try db.row(
      """
      update challenge set tries = tries + 1
      where id = (select id from challenge
          where kind in (\(list: kinds.map(\.rawValue))) and subject_hash in (\(list: hashes(subject)))
            and (kind = \(Challenge.Kind.confirmation.rawValue)
              or coalesce(account_id, \(nobody)) = \(account?.description ?? nobodyID))
          order by created_at desc, id desc limit 1)
        and used_at is null and expires_at > \(now) and tries < \(Challenge.triesMax)
      returning id, kind, code_hash, account_id, content
      """)
    guard let row else { return nil }
    let id = try row.get("id", as: ChallengeID.self)
    guard code.matches(try row.get("code_hash"), for: id.description, under: keys) else { return nil }
    return try used(id, row, at: now, on: db)
  }

  /// The challenge of a link, if it is one of these kinds. Of many at once, one succeeds.
  func answer(
    _ link: LinkToken, of kinds: [Challenge.Kind] = Challenge.Kind.linked, at now: Date, on db: any Connection
  ) throws -> Answered? {
    let row = try db.row(
      """
      update challenge set tries = tries
      where token_hash = \(link.hash) and kind in (\(list: kinds.map(\.rawValue)))
        and used_at is null and expires_at > \(now)
      returning id, kind, account_id, content
      """)
    return try row.flatMap { try used($0.get("id"), $0, at: now, on: db) }
  }

  /// What a link's challenge is about, without answering it: mail scanners open links. nil when it is no longer good.
  func content(of link: LinkToken, at now: Date, on db: any Connection) throws -> Challenge.Content? {
    let row = try db.row(
      """
      select id, content from challenge
      where token_hash = \(link.hash) and kind in (\(list: Challenge.Kind.linked.map(\.rawValue)))
        and used_at is null and expires_at > \(now)
      """)
    guard let row else { return nil }
    let plain = try keys.open(try row.get("content"), purpose: purpose(row.get("id")))
    return try JSON.decode(Challenge.Content.self, from: plain)
  }

  func sweep(at now: Date, limit: Int, on db: any Connection) throws -> Int {
    try db.change(
      "delete from challenge where id in (select id from challenge where expires_at <= \(now) limit \(limit))")
  }

  private func used(_ id: ChallengeID, _ row: Row, at now: Date, on db: any Connection) throws -> Answered? {
    guard let kind = Challenge.Kind(rawValue: try row.get("kind")) else { return nil }
    try db.change("update challenge set used_at = \(now) where id = \(id)")
    let content = try JSON.decode(
      Challenge.Content.self, from: try keys.open(try row.get("content"), purpose: purpose(id)))
    return Answered(kind: kind, content: content, account: try row.optional("account_id"))
  }

  private func hashes(_ subject: String) -> [[UInt8]] {
    keys.digests(of: Data(subject.utf8), purpose: "subject of a challenge")
  }

  private func purpose(_ id: ChallengeID) -> String { "challenge \(id)" }
}

enum ChallengeTag {}
typealias ChallengeID = ID<ChallengeTag>

/// Whose a challenge is that nobody signed in has asked for: a null is not equal to anything.
private let nobodyID = "00000000-0000-0000-0000-000000000000"
private let nobody: SQL = "'00000000-0000-0000-0000-000000000000'"
