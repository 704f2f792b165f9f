import Foundation
import Hummingbird
import Tokens
import Web
import Wire

/// E-mail and password for apps that keep one long-lived token and know users by number.
struct PasswordRoutes: Sendable {
  let door: PasswordDoor
  let codes: CodeSender
  let sessions: SessionStore
  let profiles: ProfileStore
  let ended: EndedSessionList
  let signIns: SignIns
  let now: @Sendable () -> Date

  func add(to routes: Router<Context>) {
    for path: RouterPath in ["/api/v1/auth/sign_in", "/login"] { routes.post(path, use: signIn) }
    for path: RouterPath in ["/api/v1/auth/sign_up", "/register"] { routes.post(path, use: signUp) }
    routes.post("/api/v1/auth/password", use: forgotten)
    routes.put("/api/v1/auth/password", use: change)
    routes.patch("/api/v1/auth/password", use: change)
    let mine = routes.group(context: SignedIn.self)
    for path: RouterPath in ["/api/v1/auth/sign_out", "/logout"] { mine.delete(path, use: signOut) }
  }

  @Sendable private func signIn(_ request: Request, _ context: Context) async throws -> Response {
    try await signIns.counted(.password) {
      let body = try await request.json(CredentialsBody.self)
      guard let typed = body.email, let password = body.password else { throw body.missing }
      let now = now()
      let entered = try await door.signIn(
        EmailAddress(typed), password, visit: request.visit(.signIn), from: request.place, at: now)
      return .json(SignedInBody("Login successful", entered, at: now))
    }
  }

  @Sendable private func signUp(_ request: Request, _ context: Context) async throws -> Response {
    try await signIns.counted(.signUp) {
      let body = try await request.json(CredentialsBody.self)
      guard let typed = body.email, let password = body.password else { throw body.missing }
      let (email, name, timeZone, _) = try FieldErrors.collected(
        { try EmailAddress.required(typed, field: "email") }, { try DisplayName.optional(body.name, field: "name") },
        { try ProfileChanges(timeZone: body.timeZone).timeZone ?? nil },
        { guard body.confirmation == nil || body.confirmation == password else { throw Failure.notConfirmed } })
      let newcomer = PasswordDoor.Newcomer(email: email, password: password, name: name, timeZone: timeZone)
      let now = now()
      let entered = try await door.signUp(newcomer, visit: request.visit(.signIn), from: request.place, at: now)
      return .json(SignedInBody("Signed up successfully", entered, at: now), status: .created)
    }
  }

  /// Ends the session of the bearer, and that of a refresh token that comes along.
  @Sendable private func signOut(_ request: Request, _ context: SignedIn) async throws -> Response {
    let now = now()
    var over: [EndedSession] = []
    if let session = context.session { over += try await sessions.end(session, of: context.user, at: now) }
    if let presented = try await request.spareRefreshToken(), let other = try await sessions.end(presented, at: now) {
      over.append(other)
    }
    return Response.json(["message": "Logout successful"]).ending(over, ended)
  }

  /// Mails a code and a link to whoever the address belongs to. The answer is the same for an address of nobody.
  @Sendable private func forgotten(_ request: Request, _ context: Context) async throws -> Response {
    var request = request
    try await request.takeBody()
    // Some apps change a password by POST, too.
    if try await request.json(NewPasswordBody.self).password != nil { return try await change(request, context) }
    let body = try await request.json(CredentialsBody.self)
    guard let typed = body.email else { throw Failure.invalid(.init("email", "is required")) }
    let email = try EmailAddress.required(typed, field: "email")
    let isKnown = try await profiles.owner(of: email) != nil
    try await codes.mail(
      email, for: .recovery, content: .init(subject: email.canonical), sends: isKnown, from: request.place, at: now())
    return .json(["message": "If there is an account with this address, a mail is on its way."])
  }

  /// By the code or link of a mail, or by whoever is signed in and knows the current password.
  @Sendable private func change(_ request: Request, _ context: Context) async throws -> Response {
    let body = try await request.json(NewPasswordBody.self)
    guard let new = body.password else { throw Failure.invalid(.init("password", "is required")) }
    guard body.confirmation == nil || body.confirmation == new else { throw Failure.notConfirmed }
    let over: [EndedSession]
    if let link = body.token {
      over = try await reset(link, body, to: new, from: request.place)
    } else {
      let me = try SignedIn(context: context)
      guard let current = body.current else { throw Failure.invalid(.init("current_password", "is required")) }
      over = try await door.change(
        of: me.user, from: current, to: new, keeping: me.session, from: request.place, at: now())
    }
    return Response.json(["message": "Password changed"]).ending(over, ended)
  }

  private func reset(
    _ token: String, _ body: NewPasswordBody, to new: String, from place: String
  ) async throws -> [EndedSession] {
    let (now, challenges) = (now(), codes.challenges)
    guard let code = OneTimeCode(typed: token) else {
      let link = LinkToken(presented: token)
      return try await door.reset(
        by: { try challenges.answer(link, of: [.recovery], at: now, on: $0) }, to: new, from: place, at: now)
    }
    guard let email = body.email.flatMap(EmailAddress.init) else {
      throw Failure.invalid(.init("email", "is required with a code"))
    }
    return try await door.reset(
      by: { try challenges.answer([.recovery], email.canonical, code: code, at: now, on: $0) }, typedFor: email,
      to: new, from: place, at: now)
  }
}

extension Failure {
  static let notConfirmed = Failure.invalid(.init("password_confirmation", "is not the same"))
}

extension Request {
  /// A refresh token that may come along when signing out, by header or in a body.
  fileprivate func spareRefreshToken() async throws -> RefreshToken? {
    if let header = headers[.refreshToken], !header.isEmpty { return RefreshToken(presented: header) }
    struct Body: Decodable { let refresh_token: String? }
    // `try?`: signing out works without a body, and with one that says nothing.
    return try? await json(Body.self).refresh_token.map { RefreshToken(presented: $0) }
  }
}
