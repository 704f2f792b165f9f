import Crypto
import Database
import Foundation
import Tokens
import Wire

/// Every statement on sessions and refresh tokens.
struct SessionStore: Sendable {
  let database: any Database
  let mint: Mint

  /// A new session of a user.
  static func open(
    for user: UserID, mint: Mint, visit: Visit, at now: Date, on db: any Connection
  ) throws -> TokenPair {
    let session = SessionID.new(at: now)
    let claims = try visit.door == .supabase ? Profile.find(user, on: db)?.claims(visit.method, at: now) : nil
    let origin = try Origin(visit.origin, of: user, at: now, on: db)
    let end = origin.openedAt + mint.lifetimes.session
    let pair = try mint.pair(user: user, session: session, door: visit.door, until: end, claims: claims, at: now)
    try db.change(
      """
      insert into session
        (id, account_id, opened_at, tokens_until, door, device, last_seen_at, method, is_signed_in)
      values (\(session), \(user), \(origin.openedAt), \(pair.accessExpiresAt), \(visit.door.rawValue),
        \(visit.device), \(now), \(visit.method.rawValue), \(origin.isSignedIn))
      """)
    try insert(
      pair.refresh, of: session, until: min(end, now + mint.lifetimes.refresh(of: visit.door)), at: now, on: db)
    try mint.places.note(visit.place, of: user, at: now, on: db)
    return pair
  }

  /// Exchanges a refresh token. One transaction decides: of many that present the same token, one rotates it.
  ///
  /// - Parameter retryKey: the caller's `Idempotency-Key`; with it, and only with it, the same exchange may be asked for
  ///   again when its answer was lost.
  func refresh(
    _ presented: RefreshToken, retryKey: String?, from place: String, at now: Date
  ) async throws -> Refreshed {
    let keyHash = retryKey.map { Array(SHA256.hash(data: Data($0.utf8))) }
    return try await database.write { db in
      // The session's row is the lock: whoever ends it or refreshes in it waits here.
      let locked = try db.row(
        """
        update session set last_seen_at = \(now)
        where id = (select session_id from refresh_token where hash = \(presented.hash)) and ended_at is null
        returning id, account_id, door, opened_at, method
        """)
      guard let locked else { return .refused }
      let end = try locked.get("opened_at", as: Date.self) + mint.lifetimes.session
      guard end > now else {
        try Self.expire(try locked.get("id"), at: now, on: db)
        return .refused
      }
      // Read in the transaction that uses the token up: an answer without its user would cost the app its session.
      guard let profile = try Profile.find(try locked.get("account_id"), on: db) else { return .refused }
      let exchange = Exchange(
        presented: presented, keyHash: keyHash, place: place, session: try locked.get("id"),
        profile: profile, door: Door(rawValue: try locked.get("door")) ?? .app,
        openedAt: try locked.get("opened_at"), method: SignInMethod(rawValue: try locked.get("method")) ?? .otp,
        end: end, mint: mint, now: now)
      return try exchange.rotated(on: db) ?? exchange.afterUse(on: db)
    }
  }

  /// Ends the session of a refresh token; nil when there was nothing to end. Safe to repeat.
  func end(_ presented: RefreshToken, at now: Date) async throws -> EndedSession? {
    try await database.write { db in
      try db.row(
        """
        update session set ended_at = \(now), end_reason = \(EndReason.signedOut.rawValue)
        where id = (select session_id from refresh_token where hash = \(presented.hash)) and ended_at is null
        returning id, tokens_until
        """
      ).map(EndedSession.init)
    }
  }

  /// Ends one session of a user; nothing when it is over already, or somebody else's.
  func end(
    _ session: SessionID, of user: UserID, because reason: EndReason = .signedOut, at now: Date
  ) async throws -> [EndedSession] {
    try await database.write { db in
      try db.rows(
        """
        update session set ended_at = \(now), end_reason = \(reason.rawValue)
        where id = \(session) and account_id = \(user) and ended_at is null returning id, tokens_until
        """
      ).map(EndedSession.init)
    }
  }

  /// Ends every session of a user but one.
  func endAll(of user: UserID, but kept: SessionID?, at now: Date) async throws -> [EndedSession] {
    try await database.write { db in
      try Self.endAll(of: user, but: kept, because: kept == nil ? .signedOut : .ended, at: now, on: db)
    }
  }

  /// Those that live, and those that ended within thirty days; the latest first.
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

  fileprivate static func insert(
    _ token: RefreshToken, of session: SessionID, until end: Date, at now: Date, on db: any Connection
  ) throws {
    try db.change(
      """
      insert into refresh_token (hash, session_id, issued_at, expires_at)
      values (\(token.hash), \(session), \(now), \(end))
      """)
  }

  /// Ends a session that has lasted for as long as sessions may. Its tokens have ended, too; of any that were given under
  /// a longer bound the feed tells.
  private static func expire(_ session: SessionID, at now: Date, on db: any Connection) throws {
    try db.change(
      """
      update session set ended_at = \(now), end_reason = \(EndReason.expired.rawValue)
      where id = \(session) and ended_at is null
      """)
  }

  /// Ends every session of a user, but for one that may be kept, and withdraws what was asked for in any of them.
  static func endAll(
    of user: UserID, but kept: SessionID? = nil, because reason: EndReason, at now: Date, on db: any Connection
  ) throws -> [EndedSession] {
    try ChallengeStore.withdrawAll(of: user, at: now, on: db)
    return try db.rows(
      """
      update session set ended_at = \(now), end_reason = \(reason.rawValue)
      where account_id = \(user) and ended_at is null and id <> \(kept?.description ?? "00000000-0000-0000-0000-000000000000")
      returning id, tokens_until
      """
    ).map(EndedSession.init)
  }
}

/// One presented refresh token within its transaction, its session locked and alive.
private struct Exchange {
  let presented: RefreshToken
  let keyHash: [UInt8]?
  let place: String
  let session: SessionID
  let profile: Profile
  let door: Door
  let openedAt: Date
  let method: SignInMethod
  let end: Date
  let mint: Mint
  let now: Date

  private static let purpose = "successor of a refresh token"

  private var user: UserID { profile.account.id }

  private func pair(_ refresh: RefreshToken) throws -> TokenPair {
    try mint.pair(
      refresh: refresh, user: user, session: session, door: door, until: end,
      claims: door == .supabase ? profile.claims(method, at: openedAt) : nil, at: now)
  }

  /// The new pair, or nil when the token can no longer be rotated.
  func rotated(on db: any Connection) throws -> Refreshed? {
    let pair = try pair(.new())
    let sealed = try Seal.seal(JSON.encodeExact(pair), under: presented.text, purpose: Self.purpose)
    let claimed = try db.change(
      """
      update refresh_token set used_at = \(now), retry_key_hash = \(keyHash), successor_hash = \(pair.refresh.hash),
        sealed_successor = \(sealed)
      where hash = \(presented.hash) and used_at is null and expires_at > \(now)
      """)
    guard claimed == 1 else { return nil }
    let lifetime = mint.lifetimes.refresh(of: door)
    try SessionStore.insert(pair.refresh, of: session, until: min(end, now + lifetime), at: now, on: db)
    try lengthen(to: pair, on: db)
    try mint.places.note(place, of: user, at: now, on: db)
    return .rotated(pair, of: profile)
  }

  /// A token that was used, or has expired.
  func afterUse(on db: any Connection) throws -> Refreshed {
    let row = try db.row(
      """
      select old.used_at, old.retry_key_hash, old.sealed_successor, new.used_at as successor_used_at
      from refresh_token old left join refresh_token new on new.hash = old.successor_hash
      where old.hash = \(presented.hash)
      """)
    guard let row, let usedAt = try row.optional("used_at", as: Date.self) else { return .refused }
    let successorIsFresh = try row.optional("successor_used_at", as: Date.self) == nil
    let sameKey = try keyHash != nil && row.optional("retry_key_hash") == keyHash
    let isRetry = sameKey && now < usedAt + mint.lifetimes.retry
    // Callers' clocks do not agree to the millisecond, and a rival may have read its own a little earlier: without a grace
    // period no time at all is early enough.
    let grace = mint.lifetimes.reuseGrace(of: door)
    let isParent = grace > .zero && now < usedAt + grace
    if successorIsFresh, isRetry || isParent {
      return .repeated(try pairAgain(sealed: row.get("sealed_successor"), on: db), of: profile)
    }
    return .stolen(try SessionStore.endAll(of: user, because: .tokenReused, at: now, on: db))
  }

  /// The pair that was handed out; when its access token has expired in the meantime, with a new one.
  private func pairAgain(sealed: [UInt8], on db: any Connection) throws -> TokenPair {
    let plain = try Seal.open(sealed, under: presented.text, purpose: Self.purpose)
    let pair = try JSON.decode(TokenPair.self, from: plain)
    guard pair.accessExpiresAt <= now else { return pair }
    let renewed = try self.pair(pair.refresh)
    try lengthen(to: renewed, on: db)
    return renewed
  }

  /// An ended session must be remembered for as long as an access token of it could live.
  private func lengthen(to pair: TokenPair, on db: any Connection) throws {
    try db.change(
      """
      update session set tokens_until = \(pair.accessExpiresAt)
      where id = \(session) and tokens_until < \(pair.accessExpiresAt)
      """)
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
