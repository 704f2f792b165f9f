import ClientBodies
import Foundation
import Hummingbird
import Tokens
import Web
import Wire

/// The signed-in user's profile, in the formats of the apps that identify users by number and of those with prefixed
/// ids.
struct ProfileRoutes: Sendable {
  let profiles: ProfileStore
  let erasure: AccountErasure
  let passwordSignIn: PasswordSignIn
  let ended: EndedSessionList
  let now: @Sendable () -> Date

  func add(to routes: HTTPRoutes) {
    let userRoutes = routes.group(context: SignedIn.self)
    for path: RouterPath in ["/api/v1/users/profile", "/profile"] { userRoutes.get(path, use: numberedUser) }
    userRoutes.patch("/api/v1/users/profile", use: changeNumberedUser)
    userRoutes.put("/api/v1/users/profile", use: changeNumberedUser)
    userRoutes.delete("/api/v1/users/profile", use: delete)
    userRoutes.patch("/api/v1/users/profile/password", use: changePassword)
    userRoutes.put("/api/v1/users/profile/password", use: changePassword)
    for path: RouterPath in ["/users/me", "/users/{id}"] {
      userRoutes.get(path, use: prefixedUser)
      userRoutes.patch(path, use: changePrefixedUser)
    }
    userRoutes.patch("/users/me/language", use: changeLanguage)
    userRoutes.get("/users") { request, context in try await list(request, context) }
    userRoutes.post("/users") { request, context in
      var response = try await changePrefixedUser(request, context)
      response.status = .created
      return response
    }
  }

  @Sendable private func numberedUser(_ request: Request, _ context: SignedIn) async throws -> Response {
    .json(UserAnswer(user: ClientBodies.Profile(try await profile(context))))
  }

  @Sendable private func changeNumberedUser(_ request: Request, _ context: SignedIn) async throws -> Response {
    let body = try await request.json(NumberedUserChangesBody.self)
    return .json(UserAnswer(user: ClientBodies.Profile(try await change(context, try body.changes()))))
  }

  /// Requires the password, if the account has one.
  @Sendable private func delete(_ request: Request, _ context: SignedIn) async throws -> Response {
    let body = try await request.jsonIfPresent(PasswordOnlyBody.self)
    try await passwordSignIn.requirePassword(body?.password, of: context.user, from: request.clientAddress, at: now())
    guard let endedSessions = try await erasure.request(for: context.user, at: now()) else {
      throw Failure.sessionEnded
    }
    return Response.json(["message": "Account deactivated"]).withEndedSessions(endedSessions, ended)
  }

  /// Ends all other sessions.
  @Sendable private func changePassword(_ request: Request, _ context: SignedIn) async throws -> Response {
    let body = try await request.json(NewPasswordBody.self)
    guard let new = body.password else { throw Failure.invalid(.init("password", "is required")) }
    guard body.confirmation == nil || body.confirmation == new else { throw Failure.passwordConfirmationMismatch }
    if try await profile(context).hasPassword, body.current == nil {
      throw Failure.invalid(.init("current_password", "is required"))
    }
    let endedSessions = try await passwordSignIn.change(
      of: context.user, from: body.current, to: new, keeping: context.session, from: request.clientAddress, at: now())
    return Response.json(["message": "Password changed"]).withEndedSessions(endedSessions, ended)
  }

  @Sendable private func prefixedUser(_ request: Request, _ context: SignedIn) async throws -> Response {
    try requireSelf(context)
    return .exactJSON(DataAnswer(data: PrefixedUserBody(try await profile(context))))
  }

  @Sendable private func changePrefixedUser(_ request: Request, _ context: SignedIn) async throws -> Response {
    try requireSelf(context)
    let body = try await request.json(PrefixedUserChangesBody.self)
    if let id = body.id ?? body.userId, !PrefixedUserBody.isID(id, of: context.user) { throw Failure.forbidden }
    return .exactJSON(DataAnswer(data: PrefixedUserBody(try await change(context, try body.changes()))))
  }

  @Sendable private func changeLanguage(_ request: Request, _ context: SignedIn) async throws -> Response {
    let body = try await request.json(PrefixedUserChangesBody.self)
    guard body.locale ?? body.language != nil else { throw Failure.invalid(.init("locale", "is required")) }
    return .exactJSON(DataAnswer(data: PrefixedUserBody(try await change(context, try body.changes()))))
  }

  /// The list has the signed-in user only.
  private func list(_ request: Request, _ context: SignedIn) async throws -> Response {
    .exactJSON(DataAnswer(data: [PrefixedUserBody(try await profile(context))], count: 1))
  }

  /// - Throws: 403 for another user's id.
  private func requireSelf(_ context: SignedIn) throws(Failure) {
    guard let id = context.parameters.get("id") else { return }
    guard PrefixedUserBody.isID(id, of: context.user) else { throw .forbidden }
  }

  private func profile(_ context: SignedIn) async throws -> Profile {
    guard let profile = try await profiles.profile(of: context.user) else { throw Failure.sessionEnded }
    return profile
  }

  private func change(_ context: SignedIn, _ changes: ProfileChanges) async throws -> Profile {
    guard let profile = try await profiles.change(context.user, changes, at: now()) else { throw Failure.sessionEnded }
    return profile
  }
}
