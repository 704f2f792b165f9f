import ClientBodies
import Foundation
import HTTPTypes
import Hummingbird
import Tokens
import Web
import Wire

/// Refreshing and ending sessions.
struct SessionRoutes: Sendable {
  let sessions: SessionStore
  let ended: EndedSessionList
  let signInCounter: SignInCounter
  let now: @Sendable () -> Date

  func add(to routes: HTTPRoutes) {
    routes.post("/api/v1/auth/refresh", use: refresh)
    routes.post("/api/v1/auth/logout", use: logout)
  }

  @Sendable private func refresh(_ request: Request, _ context: Context) async throws -> Response {
    try await exchange(try await request.refreshToken(), request, context) { pair, profile, now in
      .json(TokenAnswer(pair, user: ClientBodies.Profile(profile), at: now))
    }
  }

  /// Responds with the tokens alone, without the user, whose format differs for these apps.
  ///
  /// - Parameter presented: nil when the token is in the header or in the body.
  func refreshWithoutUser(
    _ presented: RefreshToken?, _ request: Request, _ context: Context
  ) async throws -> Response {
    let presented = if let presented { presented } else { try await request.refreshToken() }
    return try await exchange(presented, request, context) { pair, _, now in .json(TokenAnswer(pair, at: now)) }
  }

  /// - Parameter response: GoTrue's session with the new tokens.
  func refreshForSupabase(
    _ presented: RefreshToken, _ request: Request, _ context: Context,
    response: (TokenPair, UserID, Date) async throws -> Response
  ) async throws -> Response {
    try await exchange(presented, request, context) { pair, profile, now in
      try await response(pair, profile.account.id, now)
    }
  }

  /// Exchanges a refresh token, counts the outcome, and reports the sessions that a reused token has ended.
  ///
  /// - Parameter response: the tokens in the format of the app.
  private func exchange(
    _ presented: RefreshToken, _ request: Request, _ context: Context,
    response: (TokenPair, Profile, Date) async throws -> Response
  ) async throws -> Response {
    let now = now()
    let key = try request.idempotencyKey()
    switch try await sessions.refresh(presented, retryKey: key, from: request.clientAddress, at: now) {
    case .rotated(let pair, let profile):
      signInCounter.count(.refresh, .done)
      return try await response(pair, profile, now)
    case .repeated(let pair, let profile):
      signInCounter.count(.refresh, .done)
      var repeated = try await response(pair, profile, now)
      repeated.headers[.idempotencyHit] = "true"
      return repeated
    case .refused:
      signInCounter.count(.refresh, .refused)
      throw Failure.invalidRefreshToken
    case .reused(let sessions):
      signInCounter.count(.refresh, .reused)
      context.logger.warning("refresh token reused", metadata: ["sessions_ended": .stringConvertible(sessions.count)])
      return Failure.refreshTokenReused
        .response(to: request, requestID: context.trace.requestID)
        .withEndedSessions(sessions, ended)
    }
  }

  /// The response is always the same, so that it does not reveal whether the token was valid.
  @Sendable private func logout(_ request: Request, _ context: Context) async throws -> Response {
    let session = try await sessions.end(try await request.refreshToken(), at: now())
    return Response.json(["detail": "Logged out"]).withEndedSessions(session.map { [$0] } ?? [], ended)
  }
}

extension Request {
  /// From the header `X-Refresh-Token`, which apps send that send no body, else from the body.
  fileprivate func refreshToken() async throws -> RefreshToken {
    if let header = headers[.refreshToken], !header.isEmpty { return RefreshToken(presented: header) }
    let text = try await json(RefreshBody.self).refresh_token
    guard !text.isEmpty else { throw Failure.invalid(.init("refresh_token", "is required")) }
    return RefreshToken(presented: text)
  }
}

private struct RefreshBody: Decodable {
  let refresh_token: String
}

extension HTTPField.Name {
  // `!`: the name is a constant that is a valid token.
  static let refreshToken = Self("X-Refresh-Token")!
}

extension Failure {
  static let invalidRefreshToken = Failure(
    .unauthorized, "invalid_refresh_token", "This refresh token is not valid. Sign in again.")
  static let refreshTokenReused = Failure(
    .unauthorized, "refresh_token_reused",
    "This refresh token was used before, so every session has been ended. Sign in again.")
}
