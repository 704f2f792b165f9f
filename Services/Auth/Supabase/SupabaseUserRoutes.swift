import Foundation
import Hummingbird
import Tokens
import Web
import Wire

/// `/auth/v1` for those who are signed in, and the keys with which their tokens are verified.
struct SupabaseUserRoutes: Sendable {
  let profiles: ProfileStore
  let sessions: SessionStore
  let changes: UserChanges
  let links: MailLinks
  let ring: KeyRing
  let apiKeys: [String]
  let ended: EndedSessionList
  let now: @Sendable () -> Date

  func add(to routes: Router<Context>) {
    let keys = ServiceRoutes.publishedKeys(ring)
    routes.group("/auth/v1").add(middleware: SupabaseMiddleware(apiKeys: [])).get(".well-known/jwks.json", use: keys)
    let mine = routes.group("/auth/v1").add(middleware: SupabaseMiddleware(apiKeys: apiKeys))
      .group(context: SignedIn.self)
    mine.get("user", use: user)
    mine.put("user", use: change)
    mine.get("reauthenticate", use: reauthenticate)
    mine.post("logout", use: signOut)
    mine.post("signout", use: signOut)
  }

  @Sendable private func user(_ request: Request, _ context: SignedIn) async throws -> Response {
    guard let profile = try await profiles.profile(of: context.user) else { throw Failure.sessionEnded }
    return .json(SupabaseUserBody(profile, at: now()))
  }

  @Sendable private func change(_ request: Request, _ context: SignedIn) async throws -> Response {
    let redirect = links.allowed(request.uri.queryParameters["redirect_to"].map(String.init))
    let change = try UserChange(try await request.json(SupabaseBody.self), redirect: redirect)
    let now = now()
    let done = try await changes.make(
      change, of: context.user, keeping: context.session, from: request.place, at: now)
    return Response.json(SupabaseUserBody(done.profile, at: now)).ending(done.ended, ended)
  }

  /// Sends the code that a change of the password asks for when the session is not new.
  @Sendable private func reauthenticate(_ request: Request, _ context: SignedIn) async throws -> Response {
    try await changes.askAgain(context.user, from: request.place, at: now())
    return .json([String: String]())
  }

  @Sendable private func signOut(_ request: Request, _ context: SignedIn) async throws -> Response {
    let now = now()
    let over: [EndedSession]
    switch request.uri.queryParameters["scope"] {
    case "local":
      over = try await context.session.asyncMap { try await sessions.end($0, of: context.user, at: now) } ?? []
    case "others": over = try await sessions.endAll(of: context.user, but: context.session, at: now)
    case nil, "global": over = try await sessions.endAll(of: context.user, but: nil, at: now)
    default: throw Failure.invalid(.init("scope", "must be global, local or others"))
    }
    return Response(status: .noContent).ending(over, ended)
  }
}

extension Optional {
  fileprivate func asyncMap<T>(_ transform: (Wrapped) async throws -> T) async rethrows -> T? {
    guard let self else { return nil }
    return try await transform(self)
  }
}
