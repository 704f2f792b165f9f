import Database
import Foundation
import Tokens
import Wire

/// Every statement on challenges. Subjects and codes are HMACs, contents are sealed.
struct ChallengeStore: Sendable {
  let keys: DataKeys

  /// Whose challenges a code is looked for among.
  enum Owner: Sendable {
    /// Nobody's in particular: those that were asked for without signing in, and confirmations.
    case nobody
    case user(UserID)
    /// Anybody's: the code itself names the account.
    case anybody

    fileprivate var condition: SQL {
      switch self {
      case .nobody: "(account_id is null or kind = 'confirmation')"
      case .user, .anybody: "account_id is not null"
      }
    }

    fileprivate var user: UserID? {
      if case .user(let user) = self { user } else { nil }
    }
  }

  /// Writes a challenge. Earlier ones of the same subject stay good: others may have asked for this one.
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

  /// The challenge of these kinds and subject that `code` is the code of. Every call counts as a try of all that are
  /// open; of many right ones at once, one succeeds. nil must not roll back.
  func answer(
    _ kinds: [Challenge.Kind], _ subject: String, of owner: Owner = .nobody, code: OneTimeCode, at now: Date,
    on db: any Connection
  ) throws -> Answered? {
    guard let (id, row) = try tried(kinds, subject, of: owner, code, at: now, on: db) else { return nil }
    return try used(id, row, at: now, on: db)
  }

  /// Whether `code` would answer. A wrong one counts as a try, a right one leaves the challenge as it was.
  func isRight(
    _ kinds: [Challenge.Kind], _ subject: String, of owner: Owner, code: OneTimeCode, at now: Date,
    on db: any Connection
  ) throws -> Bool {
    guard let (id, _) = try tried(kinds, subject, of: owner, code, at: now, on: db) else { return false }
    try db.change("update challenge set tries = tries - 1 where id = \(id)")
    return true
  }

  private func tried(
    _ kinds: [Challenge.Kind], _ subject: String, of owner: Owner, _ code: OneTimeCode, at now: Date,
    on db: any Connection
  ) throws -> (ChallengeID, Row)? {
    let triesMax = Challenge.triesMax(of: kinds)
    let rows = try db.rows(
      """
      update challenge set tries = tries + 1
      where id in (select id from challenge
          where kind in (\(list: kinds.map(\.rawValue))) and subject_hash in (\(list: hashes(subject)))
            and \(owner.condition) and coalesce(\(owner.user), account_id, \(nobody)) = coalesce(account_id, \(nobody))
            and used_at is null and expires_at > \(now) and tries < \(triesMax)
          order by created_at desc, id desc limit \(Challenge.openMax))
        and used_at is null and expires_at > \(now) and tries < \(triesMax)
      returning id, kind, code_hash, account_id, content
      """)
    let tried = try rows.map { row in (try row.get("id", as: ChallengeID.self), row) }
    return try tried.first { id, row in
      code.matches(try row.get("code_hash"), for: id.description, under: keys)
    }
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

  /// What a link's page is about, without answering it: mail scanners open links. nil when it is no longer good.
  func waiting(
    behind link: LinkToken, of kinds: [Challenge.Kind] = Challenge.Kind.paged, at now: Date, on db: any Connection
  ) throws -> Answered? {
    try db.row(
      """
      select id, kind, account_id, content from challenge
      where token_hash = \(link.hash) and kind in (\(list: kinds.map(\.rawValue)))
        and used_at is null and expires_at > \(now)
      """
    ).flatMap { try opened($0.get("id"), $0) }
  }

  /// The newest challenge of a kind and subject that is still to be answered, to be sent once more.
  func waiting(_ kind: Challenge.Kind, _ subject: String, at now: Date, on db: any Connection) throws -> Answered? {
    try db.row(
      """
      select id, kind, account_id, content from challenge
      where kind = \(kind.rawValue) and subject_hash in (\(list: hashes(subject)))
        and used_at is null and expires_at > \(now)
      order by created_at desc, id desc limit 1
      """
    ).flatMap { try opened($0.get("id"), $0) }
  }

  /// Withdraws what an account has asked for, but for one subject.
  func withdraw(
    _ kind: Challenge.Kind, of user: UserID, but subject: String, at now: Date, on db: any Connection
  ) throws {
    try db.change(
      """
      update challenge set used_at = \(now) where account_id = \(user) and kind = \(kind.rawValue) and used_at is null
        and subject_hash not in (\(list: hashes(subject)))
      """)
  }

  /// Withdraws whatever would give an account another way in or show that a bearer is its user's: whoever ends its
  /// sessions or has its password changed wants no such code answered any more, as some are taken without a bearer.
  static func withdrawAll(of user: UserID, at now: Date, on db: any Connection) throws {
    try db.change(
      """
      update challenge set used_at = \(now) where account_id = \(user) and used_at is null
        and kind in (\(list: Challenge.Kind.withdrawn.map(\.rawValue)))
      """)
    try NewEmail.remove(of: user, on: db)
  }

  /// Exchanges the code that a link has given to an app (RFC 7636 §4.5). A wrong verifier counts as a try; nil must not
  /// roll back.
  ///
  /// - Returns: what the link has answered.
  func exchange(_ code: LinkToken, verifier: String, at now: Date, on db: any Connection) throws -> Answered? {
    let row = try db.row(
      """
      update challenge set tries = tries + 1
      where token_hash = \(code.hash) and kind = \(Challenge.Kind.exchange.rawValue) and used_at is null
        and expires_at > \(now) and tries < \(Challenge.triesMax)
      returning id, kind, account_id, content
      """)
    guard let row, let waiting = try opened(row.get("id"), row), let kind = waiting.content.exchanged,
      waiting.content.codeChallenge?.matches(verifier) == true
    else { return nil }
    _ = try used(row.get("id"), row, at: now, on: db)
    return Answered(kind: kind, content: waiting.content, account: waiting.account)
  }

  func sweep(at now: Date, limit: Int, on db: any Connection) throws -> Int {
    try db.change(
      "delete from challenge where id in (select id from challenge where expires_at <= \(now) limit \(limit))")
  }

  private func used(_ id: ChallengeID, _ row: Row, at now: Date, on db: any Connection) throws -> Answered? {
    try db.change("update challenge set used_at = \(now) where id = \(id)")
    return try opened(id, row)
  }

  private func opened(_ id: ChallengeID, _ row: Row) throws -> Answered? {
    guard let kind = Challenge.Kind(rawValue: try row.get("kind")) else { return nil }
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
private let nobody: SQL = "'00000000-0000-0000-0000-000000000000'"
