import Foundation
import Hummingbird
import Tokens
import Web
import Wire

/// What other processes request: users, ended sessions, and the public keys for access tokens.
struct ServiceRoutes: Sendable {
  let accounts: AccountStore
  let sessions: SessionStore
  let endedChanges: EndedSessionChanges
  let ended: EndedSessionList
  let ring: KeyRing
  let policy: VerificationPolicy
  let now: @Sendable () -> Date

  func add(to routes: HTTPRoutes) {
    routes.get("/.well-known/jwks.json", use: Self.publishedKeys(ring))
    routes.group(context: ServiceCaller.self).post("/api/v1/users/resolve", use: resolve)
    let internalRoutes = routes.group(context: ServiceCaller.self)
      .add(middleware: RequiresService.anyProcess)
    internalRoutes.get("/internal/users", use: userWithAnyID)
    internalRoutes.get("/internal/users/{id}", use: profile)
    internalRoutes.offEventLoop().get("/internal/sessions/ended", use: endedSessions)
  }

  /// The public keys for our access tokens.
  static func publishedKeys(_ ring: KeyRing) -> @Sendable (Request, Context) async throws -> Response {
    { _, _ in
      var response = Response.json(ring.current.published)
      response.headers[.cacheControl] = "public, max-age=60"
      return response
    }
  }

  @Sendable private func resolve(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    let body = try await request.json(ResolveUser.self)
    let external = body.externalID.trimmingCharacters(in: .whitespacesAndNewlines)
    guard (1...ResolveUser.externalIDBytesMax).contains(external.utf8.count) else {
      throw Failure.invalid(.init("external_id", "must have 1 to \(ResolveUser.externalIDBytesMax) characters"))
    }
    var identity = Identity.externalID(external)
    identity.email = try body.email.map { try EmailAddress.required($0, field: "email").text }
    identity.displayName = try DisplayName.optional(body.displayName, field: "display_name")
    let (account, created) = try await accounts.account(for: identity, at: now())
    return .json(ResolvedUser(userID: account.id, created: created))
  }

  @Sendable private func userWithAnyID(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    guard let name = request.uri.queryParameters["known_as"], !name.isEmpty else {
      throw Failure.invalid(.init("known_as", "is required"))
    }
    guard let account = try await accounts.activeAccount(withAnyID: String(name)) else { throw Failure.userNotFound }
    return .exactJSON(account.profile(under: policy))
  }

  @Sendable private func profile(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    guard let id = context.parameters.get("id").flatMap({ UserID($0) }), let account = try await accounts.account(id)
    else {
      throw Failure.userNotFound
    }
    return .exactJSON(account.profile(under: policy))
  }

  @Sendable private func endedSessions(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    let since = try request.uri.queryParameters["since"].map { text in
      guard let date = RFC3339.parse(String(text)) else { throw Failure.invalid(.init("since", "must be a time")) }
      return date
    }
    let last = try request.uri.queryParameters["after"].map { text in
      guard let id = SessionID(String(text)) else { throw Failure.invalid(.init("after", "must be a session's id")) }
      return id
    }
    let limit = try request.queryNumber("limit", default: 0, in: 0...EndedSessions.pageMax)
    let waitMax = EndedSessions.waitSecondsMax
    let wait = try request.queryNumber("wait", default: 0, in: 0...waitMax)
    let previous = request.uri.queryParameters["version"].map(String.init)
    if wait > 0, let previous {
      await endedChanges.wait(after: previous, atMost: .seconds(wait))
      // This process has read them itself a moment ago, for all who wait.
      if let since, endedChanges.isCurrent(previous), ended.isRecent(at: now()) {
        return .exactJSON(
          EndedSessions(sessions: [], cursor: since, version: previous, waitSecondsMax: waitMax))
      }
    }
    // Read before the sessions, so that a session that ends in between ends the next wait.
    let version = endedChanges.version(after: previous)
    let ended = try await sessions.ended(since: since, after: last, limit: limit == 0 ? nil : limit, at: now())
    return .exactJSON(
      EndedSessions(
        sessions: ended.sessions, cursor: ended.cursor, next: ended.next, version: version, waitSecondsMax: waitMax))
  }
}
