import Foundation

/// The session of the app: hands out access tokens, and exchanges the refresh token before they end.
///
/// However many calls need a token at once, one exchange is made. Nobody is signed out because an answer was lost: the
/// exchange is repeated with the same `Idempotency-Key`, also after a restart of the app.
public actor Sessions {
  /// Gives a token of an outside issuer, such as Clerk. `isRejected` says that the last one was refused.
  public typealias OutsideTokens = @Sendable (_ isRejected: Bool) async throws -> String

  private enum Source {
    case unread
    case none(SessionState.Reason)
    case stored(StoredSession)
    /// An access token without a refresh token.
    case unrenewable
    case outside(OutsideTokens)
  }

  /// Before this many seconds are left, a token is not used any more.
  private static let leewaySeconds = 30.0
  private let baseURL: URL
  private let exchanger: Exchanger
  private let store: any TokenStore
  private let cache: ResponseCache
  private var source = Source.unread
  private var access: Bearer?
  private var refreshing: Task<Bearer, any Error>?
  /// Counted up by each sign-in and sign-out, so that the answer to an older exchange is not taken for the new session.
  private var generation = 0
  private var watchers: [Int: AsyncStream<SessionState>.Continuation] = [:]
  private var watcherCount = 0

  init(baseURL: URL, exchanger: Exchanger, store: any TokenStore, cache: ResponseCache) {
    self.baseURL = baseURL
    self.exchanger = exchanger
    self.store = store
    self.cache = cache
  }

  /// The present state and every later one.
  public var states: AsyncStream<SessionState> {
    let (stream, continuation) = AsyncStream<SessionState>.makeStream(bufferingPolicy: .bufferingNewest(16))
    watcherCount += 1
    let id = watcherCount
    watchers[id] = continuation
    continuation.onTermination = { [weak self] _ in Task { await self?.removeWatcher(id) } }
    continuation.yield(state)
    return stream
  }

  /// Before the device is first unlocked, a stored session cannot be read: then it counts as signed in.
  public var state: SessionState {
    // `try?`: what cannot be read now is asked for again by the next call.
    try? read()
    if case .none(let reason) = source { return .signedOut(reason) }
    return .signedIn(userID: userID)
  }

  /// The signed-in user, once an access token is there.
  public var userID: String? { access?.userID }

  /// Whose answers may be shown from the cache. An outside issuer may have another user without having said so.
  ///
  /// - Throws: as ``bearer()``, while it is not known whose session it is.
  func cacheUser() async throws -> String? {
    guard case .outside(let outside) = source else {
      if access == nil { _ = try await bearer() }
      return userID
    }
    let token = try await outside(false)
    return Bearer(token: token, expiresAt: nil).userID ?? token
  }

  /// Reads the stored session and exchanges its refresh token, as an app does when it starts.
  ///
  /// - Returns: the state: also signed in when the server could not be reached.
  @discardableResult
  public func restore() async throws -> SessionState {
    do { _ = try await bearer() } catch KithFailure.signedOut {} catch KithFailure.unreachable {}
    return state
  }

  func start(_ pair: TokenPair) async throws {
    begin()
    access = bearer(of: pair)
    if let refreshToken = pair.refreshToken {
      let session = StoredSession(refreshToken: refreshToken)
      source = .stored(session)
      try write(session)
    } else {
      source = .unrenewable
    }
    await cache.removeAll()
    tell()
  }

  /// Uses tokens of an outside issuer. They are not stored: call this at each start.
  public func start(_ outside: @escaping OutsideTokens) async {
    begin()
    source = .outside(outside)
    await cache.removeAll()
    tell()
  }

  /// Forgets the session on this device.
  ///
  /// - Returns: the refresh token that was thrown away, for the server to revoke.
  @discardableResult
  func end(_ reason: SessionState.Reason) async -> String? {
    var token: String?
    if case .stored(let session) = source { token = session.refreshToken }
    begin()
    source = .none(reason)
    // `try?`: a token that stays in a locked store is refused by the server.
    try? store.delete()
    await cache.removeAll()
    tell()
    return token
  }

  /// An access token that can be used for some time.
  ///
  /// - Throws: ``KithFailure/signedOut`` and the failures of an exchange.
  func bearer() async throws -> Bearer {
    try read()
    if case .outside(let outside) = source { return Bearer(token: try await outside(false), expiresAt: nil) }
    if let access, isUsable(access) { return access }
    return try await refreshed()
  }

  /// A token after `rejected` was refused. Calls that were refused together cause one exchange.
  func bearer(replacing rejected: Bearer) async throws -> Bearer {
    try read()
    var next: Bearer
    if case .outside(let outside) = source {
      next = Bearer(token: try await outside(true), expiresAt: nil)
    } else if let access, access.token != rejected.token {
      next = access
    } else {
      next = try await refreshed()
    }
    next.isReplacement = true
    return next
  }

  /// As a restart of the app does.
  func forgetAccess() { access = nil }

  private func isUsable(_ bearer: Bearer) -> Bool {
    guard let expiresAt = bearer.expiresAt else { return true }
    return expiresAt.timeIntervalSince(exchanger.policy.now()) > Self.leewaySeconds
  }

  private func read() throws {
    guard case .unread = source else { return }
    do { source = try store.read().map(Source.stored) ?? .none(.noSession) } catch {
      throw KithFailure.tokenStoreUnavailable("\(error)")
    }
  }

  private func write(_ session: StoredSession) throws {
    do { try store.write(session) } catch { throw KithFailure.tokenStoreUnavailable("\(error)") }
  }

  private func begin() {
    generation += 1
    access = nil
    refreshing = nil
  }

  private func bearer(of pair: TokenPair) -> Bearer {
    Bearer(
      token: pair.accessToken, expiresAt: pair.expiresIn.map { exchanger.policy.now().addingTimeInterval($0) })
  }

  private func refreshed() async throws -> Bearer {
    if case .unrenewable = source { await end(.ended) }
    guard case .stored(var session) = source else { throw KithFailure.signedOut }
    // `try?`: a locked store has nothing newer. An extension of the app may have exchanged the token meanwhile.
    if refreshing == nil, let newest = try? store.read() { session = newest }
    let running = refreshing ?? Task { [generation, session] in try await exchange(session, in: generation) }
    refreshing = running
    return try await running.cancellableValue
  }

  /// Runs in a task of its own, so that a caller who is cancelled takes the token from nobody else.
  private func exchange(_ session: StoredSession, in generation: Int) async throws -> Bearer {
    defer { if generation == self.generation { refreshing = nil } }
    let call = try Call.post("/api/v1/auth/refresh", ["refresh_token": session.refreshToken])
      .with { $0.idempotencyKey = session.refreshKey }
    let response = try await exchanger.send(try call.request(to: baseURL), isRepeatable: true)
    guard generation == self.generation else { throw KithFailure.signedOut }
    switch response.status {
    case 200:
      let pair = try WireCoding.decode(TokenPair.self, from: response.body)
      let next = StoredSession(refreshToken: pair.refreshToken ?? session.refreshToken)
      source = .stored(next)
      let bearer = bearer(of: pair)
      access = bearer
      // `try?`: with the store locked the session goes on in memory; after a restart the exchange is repeated.
      try? store.write(next)
      tell()
      return bearer
    default:
      let refusal = Refusal(response, now: exchanger.policy.now())
      // Only the server ends a session: what is in between, such as the page of a hotel's network, has no code.
      guard [401, 403].contains(refusal.status), refusal.hasCode else { throw KithFailure.refused(refusal) }
      await end(.ended)
      throw KithFailure.signedOut
    }
  }

  private func tell() {
    let state = state
    for watcher in watchers.values { watcher.yield(state) }
  }

  private func removeWatcher(_ id: Int) { watchers[id] = nil }
}

extension Task where Failure == any Error {
  /// The value, or `CancellationError` as soon as the caller is cancelled. The task itself goes on.
  var cancellableValue: Success {
    get async throws {
      let values = AsyncThrowingStream<Success, any Error> { continuation in
        Task<Void, Never> {
          do {
            continuation.yield(try await self.value)
            continuation.finish()
          } catch { continuation.finish(throwing: error) }
        }
      }
      for try await value in values { return value }
      throw _Concurrency.CancellationError()
    }
  }
}
