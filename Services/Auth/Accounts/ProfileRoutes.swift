import Foundation
import Hummingbird
import Tokens
import Web
import Wire

/// A user's own profile, in the words of the apps: by number, and with prefixed ids.
struct ProfileRoutes: Sendable {
  let profiles: ProfileStore
  let erasures: Erasures
  let passwords: PasswordDoor
  let ended: EndedSessionList
  let now: @Sendable () -> Date

  func add(to routes: Router<Context>) {
    let mine = routes.group(context: SignedIn.self)
    for path: RouterPath in ["/api/v1/users/profile", "/profile"] { mine.get(path, use: numbered) }
    mine.patch("/api/v1/users/profile", use: changeNumbered)
    mine.put("/api/v1/users/profile", use: changeNumbered)
    mine.delete("/api/v1/users/profile", use: delete)
    mine.patch("/api/v1/users/profile/password", use: changePassword)
    mine.put("/api/v1/users/profile/password", use: changePassword)
    for path: RouterPath in ["/users/me", "/users/{id}"] {
      mine.get(path, use: member)
      mine.patch(path, use: changeMember)
    }
    mine.patch("/users/me/language", use: changeLanguage)
    mine.get("/users") { request, context in try await list(request, context) }
    mine.post("/users") { request, context in
      var response = try await changeMember(request, context)
      response.status = .created
      return response
    }
  }

  @Sendable private func numbered(_ request: Request, _ context: SignedIn) async throws -> Response {
    .json(["user": NumberedUserBody(try await profile(context))])
  }

  @Sendable private func changeNumbered(_ request: Request, _ context: SignedIn) async throws -> Response {
    let body = try await request.json(NumberedChangesBody.self)
    return .json(["user": NumberedUserBody(try await change(context, try body.changes()))])
  }

  /// The app asks for the password first, where the account has one.
  @Sendable private func delete(_ request: Request, _ context: SignedIn) async throws -> Response {
    let body = try await request.jsonIfAny(PasswordOnlyBody.self)
    try await passwords.confirm(body?.password, of: context.user, from: request.place, at: now())
    guard let over = try await erasures.ask(for: context.user, at: now()) else { throw Failure.sessionEnded }
    return Response.json(["message": "Account deactivated"]).ending(over, ended)
  }

  /// All other sessions end.
  @Sendable private func changePassword(_ request: Request, _ context: SignedIn) async throws -> Response {
    let body = try await request.json(NewPasswordBody.self)
    guard let new = body.password else { throw Failure.invalid(.init("password", "is required")) }
    guard body.confirmation == nil || body.confirmation == new else { throw Failure.notConfirmed }
    if try await profile(context).hasPassword, body.current == nil {
      throw Failure.invalid(.init("current_password", "is required"))
    }
    let over = try await passwords.change(
      of: context.user, from: body.current, to: new, keeping: context.session, from: request.place, at: now())
    return Response.json(["message": "Password changed"]).ending(over, ended)
  }

  @Sendable private func member(_ request: Request, _ context: SignedIn) async throws -> Response {
    try requireSelf(context)
    return .exactJSON(["data": MemberBody(try await profile(context))])
  }

  @Sendable private func changeMember(_ request: Request, _ context: SignedIn) async throws -> Response {
    try requireSelf(context)
    let body = try await request.json(MemberChangesBody.self)
    if let id = body.id ?? body.userId, !MemberBody.names(id, context.user) { throw Failure.forbidden }
    return .exactJSON(["data": MemberBody(try await change(context, try body.changes()))])
  }

  @Sendable private func changeLanguage(_ request: Request, _ context: SignedIn) async throws -> Response {
    let body = try await request.json(MemberChangesBody.self)
    guard body.locale ?? body.language != nil else { throw Failure.invalid(.init("locale", "is required")) }
    return .exactJSON(["data": MemberBody(try await change(context, try body.changes()))])
  }

  /// Everybody sees only themselves.
  private func list(_ request: Request, _ context: SignedIn) async throws -> Response {
    .exactJSON(ListBody(data: [MemberBody(try await profile(context))], count: 1))
  }

  private struct ListBody: Encodable {
    let data: [MemberBody]
    let count: Int
  }

  /// - Throws: 403 for somebody else's id.
  private func requireSelf(_ context: SignedIn) throws(Failure) {
    guard let id = context.parameters.get("id") else { return }
    guard MemberBody.names(id, context.user) else { throw .forbidden }
  }

  private func profile(_ context: SignedIn) async throws -> Profile {
    guard let profile = try await profiles.profile(of: context.user) else { throw Failure.sessionEnded }
    return profile
  }

  private func change(_ context: SignedIn, _ changes: ProfileChanges) async throws -> Profile {
    guard let profile = try await profiles.change(context.user, changes) else { throw Failure.sessionEnded }
    return profile
  }
}
