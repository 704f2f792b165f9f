import Crypto
import Database
import Foundation
import Wire

/// Every statement on sessions and refresh tokens.
struct SessionStore: Sendable {
  let database: any Database
  let tokenIssuer: TokenPairIssuer

  /// Opens a session for a user.
  static func open(
    for user: UserID, tokenIssuer: TokenPairIssuer, context: SignInContext, at now: Date, on db: any Connection
  ) throws -> TokenPair {
    let session = SessionID.new(at: now)
    let claims = try context.api == .supabase ? Profile.find(user, on: db)?.claims(context.method, at: now) : nil
    let start = try SessionStart(context.origin, of: user, at: now, on: db)
    let end = start.openedAt + tokenIssuer.lifetimes.session
    let pair = try tokenIssuer.pair(user: user, session: session, api: context.api, until: end, claims: claims, at: now)
    try db.change(
      """
      insert into session
        (id, account_id, opened_at, tokens_until, door, device, last_seen_at, method, is_signed_in)
      values (\(session), \(user), \(start.openedAt), \(pair.accessExpiresAt), \(context.api.rawValue),
        \(context.device), \(now), \(context.method.rawValue), \(start.isSignedIn))
      """)
    try insert(
      pair.refresh, of: session, until: min(end, now + tokenIssuer.lifetimes.refresh(of: context.api)), at: now, on: db)
    try tokenIssuer.knownAddresses.record(context.clientAddress, of: user, at: now, on: db)
    return pair
  }

  /// Exchanges a refresh token in one transaction: of concurrent calls with the same token, one rotates it.
  ///
  /// - Parameter retryKey: the caller's `Idempotency-Key`. Only with this key can the exchange be repeated when its
  ///   response was lost.
  func refresh(
    _ presented: RefreshToken, retryKey: String?, from clientAddress: String, at now: Date
  ) async throws -> RefreshResult {
    let keyHash = retryKey.map { Array(SHA256.hash(data: Data($0.utf8))) }
    return try await database.write { db in
      // The update locks the session's row: concurrent refreshes of the session, and calls that end it, wait here.
      let row = try db.row(
        """
        update session set last_seen_at = \(now)
        where id = (select session_id from refresh_token where hash = \(presented.hash)) and ended_at is null
        returning id, account_id, door, opened_at, method
        """)
      guard let session = try row.map(LockedSession.init) else { return .refused }
      let end = session.openedAt + tokenIssuer.lifetimes.session
      guard end > now else {
        try Self.expire(session.id, at: now, on: db)
        AccountEvents.sessionsEnded(
          [EndedSession(session: session.id, until: now)], of: session.user, reason: .expired, at: now, on: db)
        return .refused
      }
      // Read in the transaction that marks the token as used: if this failed afterwards, the app would lose its
      // session.
      guard let profile = try Profile.find(session.user, on: db) else { return .refused }
      let exchange = RefreshExchange(
        presented: presented, keyHash: keyHash, clientAddress: clientAddress, session: session, profile: profile,
        end: end, tokenIssuer: tokenIssuer, now: now)
      return try exchange.rotated(on: db) ?? exchange.usedTokenResult(on: db)
    }
  }

  /// Ends the session of a refresh token; nil when there was none to end. Safe to repeat.
  func end(_ presented: RefreshToken, at now: Date) async throws -> EndedSession? {
    try await database.write { db in
      let row = try db.row(
        """
        update session set ended_at = \(now), end_reason = \(EndReason.signedOut.rawValue)
        where id = (select session_id from refresh_token where hash = \(presented.hash)) and ended_at is null
        returning id, tokens_until, account_id
        """)
      guard let row else { return nil }
      let ended = try EndedSession(row)
      AccountEvents.sessionsEnded([ended], of: try row.get("account_id"), reason: .signedOut, at: now, on: db)
      return ended
    }
  }

  /// Ends one session of a user. Returns nothing when it has already ended or is another user's.
  func end(
    _ session: SessionID, of user: UserID, reason: EndReason = .signedOut, at now: Date
  ) async throws -> [EndedSession] {
    try await database.write { db in
      let ended = try db.rows(
        """
        update session set ended_at = \(now), end_reason = \(reason.rawValue)
        where id = \(session) and account_id = \(user) and ended_at is null returning id, tokens_until
        """
      ).map(EndedSession.init)
      AccountEvents.sessionsEnded(ended, of: user, reason: reason, at: now, on: db)
      return ended
    }
  }

  /// Ends every session of a user except one.
  func endAll(of user: UserID, except kept: SessionID?, at now: Date) async throws -> [EndedSession] {
    // `ended` means from another session, which is the kept one. Without it the user signs out everywhere.
    let reason = kept == nil ? EndReason.signedOut : .ended
    return try await database.write { db in
      try Self.endAll(of: user, except: kept, reason: reason, at: now, on: db)
    }
  }

  /// The open sessions, and those that ended within thirty days; the most recently used first.
  func all(of user: UserID, at now: Date) async throws -> [Session] {
    try await database.read { db in
      try db.rows(
        """
        select id, opened_at, last_seen_at, ended_at, end_reason, device, door from session
        where account_id = \(user) and (ended_at is null or ended_at > \(now - 30 * 86_400))
        order by coalesce(last_seen_at, opened_at) desc, id desc limit 200
        """
      ).map(Session.init)
    }
  }

  static func insert(
    _ token: RefreshToken, of session: SessionID, until end: Date, at now: Date, on db: any Connection
  ) throws {
    try db.enqueue(
      """
      insert into refresh_token (hash, session_id, issued_at, expires_at)
      values (\(token.hash), \(session), \(now), \(end))
      """)
  }

  /// Ends a session that has reached its maximum age. Its tokens have expired as well; tokens that were issued under a
  /// longer limit are reported by the feed.
  private static func expire(_ session: SessionID, at now: Date, on db: any Connection) throws {
    try db.change(
      """
      update session set ended_at = \(now), end_reason = \(EndReason.expired.rawValue)
      where id = \(session) and ended_at is null
      """)
  }

  /// Ends every session of a user, except one that may be kept, and revokes the challenges that the user has requested.
  static func endAll(
    of user: UserID, except kept: SessionID? = nil, reason: EndReason, at now: Date, on db: any Connection
  ) throws -> [EndedSession] {
    try ChallengeStore.revokeAll(of: user, at: now, on: db)
    let ended = try db.rows(
      """
      update session set ended_at = \(now), end_reason = \(reason.rawValue)
      where account_id = \(user) and ended_at is null and (cast(\(kept) as text) is null or id <> \(kept))
      returning id, tokens_until
      """
    ).map(EndedSession.init)
    AccountEvents.sessionsEnded(ended, of: user, reason: reason, at: now, on: db)
    return ended
  }
}

extension Session {
  fileprivate init(_ row: Row) throws {
    id = try row.get("id")
    openedAt = try row.get("opened_at")
    lastSeenAt = try row.optional("last_seen_at") ?? openedAt
    endedAt = try row.optional("ended_at")
    endReason = try row.optional("end_reason")
    device = try row.optional("device")
  }
}

extension EndedSession {
  init(_ row: Row) throws { self.init(session: try row.get("id"), until: try row.get("tokens_until")) }
}
