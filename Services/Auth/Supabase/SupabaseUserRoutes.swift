import Foundation
import Hummingbird
import Tokens
import Web
import Wire

/// The endpoints of `/auth/v1` for signed-in users, and the public keys of their access tokens (JWKS).
struct SupabaseUserRoutes: Sendable {
  let profiles: ProfileStore
  let sessions: SessionStore
  let updater: UserUpdater
  let links: MailLinks
  let ring: KeyRing
  let apiKeys: [String]
  let ended: EndedSessionList
  let now: @Sendable () -> Date

  func add(to routes: HTTPRoutes) {
    let keys = ServiceRoutes.publishedKeys(ring)
    routes.group("/auth/v1").add(middleware: SupabaseMiddleware(apiKeys: [])).get(".well-known/jwks.json", use: keys)
    let userRoutes = routes.group("/auth/v1").add(middleware: SupabaseMiddleware(apiKeys: apiKeys))
      .group(context: SignedIn.self)
    userRoutes.get("user", use: user)
    userRoutes.put("user", use: change)
    userRoutes.get("reauthenticate", use: reauthenticate)
    userRoutes.post("logout", use: signOut)
    userRoutes.post("signout", use: signOut)
  }

  @Sendable private func user(_ request: Request, _ context: SignedIn) async throws -> Response {
    guard let profile = try await profiles.profile(of: context.user) else { throw Failure.sessionEnded }
    return .json(SupabaseUserBody(profile, at: now()))
  }

  @Sendable private func change(_ request: Request, _ context: SignedIn) async throws -> Response {
    let redirect = links.allowedRedirect(request.uri.queryParameters["redirect_to"].map(String.init))
    let update = try UserUpdate(try await request.json(SupabaseRequestBody.self), redirect: redirect)
    let now = now()
    let updated = try await updater.apply(
      update, of: context.user, keeping: context.session, from: request.clientAddress, at: now)
    return Response.json(SupabaseUserBody(updated.profile, at: now)).withEndedSessions(updated.ended, ended)
  }

  /// Sends the code that a change of the password requires when the session is not new.
  @Sendable private func reauthenticate(_ request: Request, _ context: SignedIn) async throws -> Response {
    try await updater.sendReauthenticationCode(context.user, from: request.clientAddress, at: now())
    return .json([String: String]())
  }

  @Sendable private func signOut(_ request: Request, _ context: SignedIn) async throws -> Response {
    let now = now()
    let endedSessions: [EndedSession]
    switch request.uri.queryParameters["scope"] {
    case "local":
      endedSessions = try await context.session.asyncMap { try await sessions.end($0, of: context.user, at: now) } ?? []
    case "others": endedSessions = try await sessions.endAll(of: context.user, except: context.session, at: now)
    case nil, "global": endedSessions = try await sessions.endAll(of: context.user, except: nil, at: now)
    default: throw Failure.invalid(.init("scope", "must be global, local or others"))
    }
    return Response(status: .noContent).withEndedSessions(endedSessions, ended)
  }
}

extension Optional {
  fileprivate func asyncMap<T>(_ transform: (Wrapped) async throws -> T) async rethrows -> T? {
    guard let self else { return nil }
    return try await transform(self)
  }
}
