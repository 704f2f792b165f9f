import Database
import Foundation
import Tokens
import Wire

/// The session of a presented refresh token, from the row that the transaction has locked.
struct LockedSession: Sendable {
  let id: SessionID
  let user: UserID
  let api: ClientAPI
  let openedAt: Date
  let method: SignInMethod

  init(_ row: Row) throws {
    id = try row.get("id")
    user = try row.get("account_id")
    // The column defaults replace values that only another version knows: the session can then still be refreshed.
    api = ClientAPI(rawValue: try row.get("door")) ?? .app
    openedAt = try row.get("opened_at")
    method = SignInMethod(rawValue: try row.get("method")) ?? .otp
  }
}

/// A presented refresh token within its transaction. Its session is locked and open.
struct RefreshExchange: Sendable {
  let presented: RefreshToken
  let keyHash: [UInt8]?
  let clientAddress: String
  let session: LockedSession
  let profile: Profile
  /// The end of the session.
  let end: Date
  let tokenIssuer: TokenPairIssuer
  let now: Date

  private static let purpose = "successor of a refresh token"

  private var user: UserID { profile.account.id }

  private func pair(_ refresh: RefreshToken) throws -> TokenPair {
    try tokenIssuer.pair(
      refresh: refresh, user: user, session: session.id, api: session.api, until: end,
      claims: session.api == .supabase ? profile.claims(session.method, at: session.openedAt) : nil, at: now)
  }

  /// The new pair, or nil when the token can no longer be rotated.
  func rotated(on db: any Connection) throws -> RefreshResult? {
    let pair = try pair(.new())
    let sealed = try SecretBox.seal(JSON.encodeExact(pair), under: presented.text, purpose: Self.purpose)
    let updated = try db.change(
      """
      update refresh_token set used_at = \(now), retry_key_hash = \(keyHash), successor_hash = \(pair.refresh.hash),
        sealed_successor = \(sealed)
      where hash = \(presented.hash) and used_at is null and expires_at > \(now)
      """)
    guard updated == 1 else { return nil }
    let lifetime = tokenIssuer.lifetimes.refresh(of: session.api)
    try SessionStore.insert(pair.refresh, of: session.id, until: min(end, now + lifetime), at: now, on: db)
    try extendSession(to: pair, on: db)
    try tokenIssuer.knownAddresses.record(clientAddress, of: user, at: now, on: db)
    return .rotated(pair, of: profile)
  }

  /// The result for a token that was used or has expired.
  func usedTokenResult(on db: any Connection) throws -> RefreshResult {
    let row = try db.row(
      """
      select old.used_at, old.retry_key_hash, old.sealed_successor, new.used_at as successor_used_at
      from refresh_token old left join refresh_token new on new.hash = old.successor_hash
      where old.hash = \(presented.hash)
      """)
    guard let row, let usedAt = try row.optional("used_at", as: Date.self) else { return .refused }
    let isSuccessorUnused = try row.optional("successor_used_at", as: Date.self) == nil
    let isSameKey = try keyHash != nil && row.optional("retry_key_hash") == keyHash
    let isRetry = isSameKey && now < usedAt + tokenIssuer.lifetimes.retry
    // The clocks of callers differ, and a concurrent caller may have read its clock a little earlier. So without a
    // grace period no used token is accepted, whatever the times are.
    let grace = tokenIssuer.lifetimes.reuseGrace(of: session.api)
    let isWithinGrace = grace > .zero && now < usedAt + grace
    if isSuccessorUnused, isRetry || isWithinGrace {
      return .repeated(try repeatedPair(sealed: row.get("sealed_successor"), on: db), of: profile)
    }
    AccountEvents.tokenTheftNoticed(of: user, in: session.id, at: now, on: db)
    return .reused(try SessionStore.endAll(of: user, reason: .tokenReused, at: now, on: db))
  }

  /// The pair that was issued before. If its access token has expired, a new one takes its place.
  private func repeatedPair(sealed: [UInt8], on db: any Connection) throws -> TokenPair {
    let plain = try SecretBox.open(sealed, under: presented.text, purpose: Self.purpose)
    let pair = try JSON.decode(TokenPair.self, from: plain)
    guard pair.accessExpiresAt <= now else { return pair }
    let renewed = try self.pair(pair.refresh)
    try extendSession(to: renewed, on: db)
    return renewed
  }

  /// An ended session has to be listed until the last access token of it expires.
  private func extendSession(to pair: TokenPair, on db: any Connection) throws {
    try db.enqueue(
      """
      update session set tokens_until = \(pair.accessExpiresAt)
      where id = \(session.id) and tokens_until < \(pair.accessExpiresAt)
      """)
  }
}
