import Database
import Foundation
import Tokens
import Wire

/// All statements on challenges. Subjects and codes are stored as HMACs, contents encrypted.
struct ChallengeStore: Sendable {
  let keys: DataKeys

  /// Which account's challenges a code is looked up among.
  enum Owner: Sendable {
    /// No account: challenges that were requested without signing in, and confirmations.
    case noAccount
    case user(UserID)
    /// Any account: the code itself identifies it.
    case anyAccount

    fileprivate var condition: SQL {
      switch self {
      case .noAccount: "(account_id is null or kind = 'confirmation')"
      case .user, .anyAccount: "account_id is not null"
      }
    }

    fileprivate var user: UserID? {
      if case .user(let user) = self { user } else { nil }
    }
  }

  /// Inserts a challenge. Earlier challenges of the same subject stay valid: somebody else may have requested this one.
  func add(
    _ challenge: Challenge, code: OneTimeCode, link: MailLinkToken?, at now: Date, on db: any Connection
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

  /// Answers the challenge of these kinds and this subject that `code` belongs to. Every call counts as a try of all
  /// open challenges; of several concurrent calls with the right code, one succeeds. The caller must not roll back on
  /// nil: the try has to stay counted.
  func answer(
    _ kinds: [Challenge.Kind], _ subject: String, of owner: Owner = .noAccount, code: OneTimeCode, at now: Date,
    on db: any Connection
  ) throws -> StoredChallenge? {
    guard let (id, row) = try match(kinds, subject, of: owner, code, at: now, on: db) else { return nil }
    return try markUsed(id, row, at: now, on: db)
  }

  /// Whether `code` would answer a challenge. A wrong code counts as a try; a right one leaves the challenge unchanged.
  func isCorrect(
    _ kinds: [Challenge.Kind], _ subject: String, of owner: Owner, code: OneTimeCode, at now: Date,
    on db: any Connection
  ) throws -> Bool {
    guard let (id, _) = try match(kinds, subject, of: owner, code, at: now, on: db) else { return false }
    try db.change("update challenge set tries = tries - 1 where id = \(id)")
    return true
  }

  /// The open challenge that `code` belongs to, after counting a try of all open ones.
  private func match(
    _ kinds: [Challenge.Kind], _ subject: String, of owner: Owner, _ code: OneTimeCode, at now: Date,
    on db: any Connection
  ) throws -> (ChallengeID, Row)? {
    let triesMax = Challenge.triesMax(of: kinds)
    let rows = try db.rows(
      """
      update challenge set tries = tries + 1
      where id in (select id from challenge
          where kind in (\(list: kinds.map(\.rawValue))) and subject_hash in (\(list: hashes(subject)))
            and \(owner.condition) and coalesce(\(owner.user), account_id, \(zeroID)) = coalesce(account_id, \(zeroID))
            and used_at is null and expires_at > \(now) and tries < \(triesMax)
          order by created_at desc, id desc limit \(Challenge.openMax))
        and used_at is null and expires_at > \(now) and tries < \(triesMax)
      returning id, kind, code_hash, account_id, content
      """)
    let open = try rows.map { row in (try row.get("id", as: ChallengeID.self), row) }
    return try open.first { id, row in
      code.matches(try row.get("code_hash"), for: id.description, under: keys)
    }
  }

  /// Answers the challenge of a link, if it is of one of these kinds. Of several concurrent calls, one succeeds.
  func answer(
    _ link: MailLinkToken, of kinds: [Challenge.Kind] = Challenge.Kind.answeredByLink, at now: Date,
    on db: any Connection
  ) throws -> StoredChallenge? {
    let row = try db.row(
      """
      update challenge set tries = tries
      where token_hash = \(link.hash) and kind in (\(list: kinds.map(\.rawValue)))
        and used_at is null and expires_at > \(now)
      returning id, kind, account_id, content
      """)
    return try row.flatMap { try markUsed($0.get("id"), $0, at: now, on: db) }
  }

  /// The pending challenge of a link, without answering it: mail scanners open links. nil when it is no longer valid.
  func pending(
    for link: MailLinkToken, of kinds: [Challenge.Kind] = Challenge.Kind.withLinkPage, at now: Date,
    on db: any Connection
  ) throws -> StoredChallenge? {
    try db.row(
      """
      select id, kind, account_id, content from challenge
      where token_hash = \(link.hash) and kind in (\(list: kinds.map(\.rawValue)))
        and used_at is null and expires_at > \(now)
      """
    ).flatMap { try decoded($0.get("id"), $0) }
  }

  /// The newest pending challenge of a kind and subject, to be sent once more.
  func pending(
    _ kind: Challenge.Kind, _ subject: String, at now: Date, on db: any Connection
  ) throws -> StoredChallenge? {
    try db.row(
      """
      select id, kind, account_id, content from challenge
      where kind = \(kind.rawValue) and subject_hash in (\(list: hashes(subject)))
        and used_at is null and expires_at > \(now)
      order by created_at desc, id desc limit 1
      """
    ).flatMap { try decoded($0.get("id"), $0) }
  }

  /// Revokes an account's challenges of one kind, except those for `subject`.
  func revoke(
    _ kind: Challenge.Kind, of user: UserID, except subject: String, at now: Date, on db: any Connection
  ) throws {
    try db.change(
      """
      update challenge set used_at = \(now) where account_id = \(user) and kind = \(kind.rawValue) and used_at is null
        and subject_hash not in (\(list: hashes(subject)))
      """)
  }

  /// Revokes an account's challenges that would add a way to sign in or reauthenticate a bearer. Called when the
  /// account's sessions are ended or its password is changed: some of these codes are accepted without a bearer.
  static func revokeAll(of user: UserID, at now: Date, on db: any Connection) throws {
    try db.change(
      """
      update challenge set used_at = \(now) where account_id = \(user) and used_at is null
        and kind in (\(list: Challenge.Kind.revokedWithSessions.map(\.rawValue)))
      """)
    try PendingEmailChange.remove(of: user, on: db)
  }

  /// Exchanges the authorization code that a link gave to an app (RFC 7636 §4.5). A wrong verifier counts as a try; the
  /// caller must not roll back on nil.
  ///
  /// - Returns: the challenge that the link answered.
  func exchange(
    _ code: MailLinkToken, verifier: String, at now: Date, on db: any Connection
  ) throws -> StoredChallenge? {
    let row = try db.row(
      """
      update challenge set tries = tries + 1
      where token_hash = \(code.hash) and kind = \(Challenge.Kind.exchange.rawValue) and used_at is null
        and expires_at > \(now) and tries < \(Challenge.triesMax)
      returning id, kind, account_id, content
      """)
    guard let row, let pending = try decoded(row.get("id"), row), let kind = pending.content.exchanged,
      pending.content.codeChallenge?.matches(verifier) == true
    else { return nil }
    _ = try markUsed(row.get("id"), row, at: now, on: db)
    return StoredChallenge(kind: kind, content: pending.content, account: pending.account)
  }

  /// Deletes at most `limit` expired challenges.
  func sweep(at now: Date, limit: Int, on db: any Connection) throws -> Int {
    try db.change(
      "delete from challenge where id in (select id from challenge where expires_at <= \(now) limit \(limit))")
  }

  private func markUsed(
    _ id: ChallengeID, _ row: Row, at now: Date, on db: any Connection
  ) throws -> StoredChallenge? {
    try db.change("update challenge set used_at = \(now) where id = \(id)")
    return try decoded(id, row)
  }

  private func decoded(_ id: ChallengeID, _ row: Row) throws -> StoredChallenge? {
    guard let kind = Challenge.Kind(rawValue: try row.get("kind")) else { return nil }
    let content = try JSON.decode(
      Challenge.Content.self, from: try keys.open(try row.get("content"), purpose: purpose(id)))
    return StoredChallenge(kind: kind, content: content, account: try row.optional("account_id"))
  }

  private func hashes(_ subject: String) -> [[UInt8]] {
    keys.digests(of: Data(subject.utf8), purpose: "subject of a challenge")
  }

  private func purpose(_ id: ChallengeID) -> String { "challenge \(id)" }
}

enum ChallengeTag {}
typealias ChallengeID = ID<ChallengeTag>

/// Stands for the account of a challenge that was requested without signing in: in SQL, null equals nothing.
private let zeroID: SQL = "'00000000-0000-0000-0000-000000000000'"
