import ClientBodies
import Foundation
import Hummingbird
import Tokens
import Web
import Wire

/// Sign-up, sign-in and password changes for apps that keep one long-lived token and identify users by number.
struct PasswordRoutes: Sendable {
  let passwordSignIn: PasswordSignIn
  let codeSender: CodeSender
  let sessions: SessionStore
  let profiles: ProfileStore
  let ended: EndedSessionList
  let signInCounter: SignInCounter
  let now: @Sendable () -> Date

  func add(to routes: HTTPRoutes) {
    for path: RouterPath in ["/api/v1/auth/sign_in", "/login"] { routes.post(path, use: signIn) }
    for path: RouterPath in ["/api/v1/auth/sign_up", "/register"] { routes.post(path, use: signUp) }
    routes.post("/api/v1/auth/password", use: requestReset)
    routes.put("/api/v1/auth/password", use: change)
    routes.patch("/api/v1/auth/password", use: change)
    let userRoutes = routes.group(context: SignedIn.self)
    for path: RouterPath in ["/api/v1/auth/sign_out", "/logout"] { userRoutes.delete(path, use: signOut) }
  }

  @Sendable private func signIn(_ request: Request, _ context: Context) async throws -> Response {
    try await signInCounter.counted(.password) {
      let body = try await request.json(CredentialsBody.self)
      guard let typed = body.email, let password = body.password else { throw body.missing }
      let now = now()
      let result = try await passwordSignIn.signIn(
        EmailAddress(typed), password, context: request.signInContext(.signIn), from: request.clientAddress, at: now)
      return .json(TokenAnswer("Login successful", result, at: now))
    }
  }

  @Sendable private func signUp(_ request: Request, _ context: Context) async throws -> Response {
    try await signInCounter.counted(.signUp) {
      let body = try await request.json(CredentialsBody.self)
      guard let typed = body.email, let password = body.password else { throw body.missing }
      let (email, name, timeZone, _) = try FieldErrors.collected(
        { try EmailAddress.required(typed, field: "email") }, { try DisplayName.optional(body.name, field: "name") },
        { try ProfileChanges(timeZone: body.timeZone).timeZone ?? nil },
        {
          guard body.confirmation == nil || body.confirmation == password else {
            throw Failure.passwordConfirmationMismatch
          }
        })
      let newAccount = PasswordSignIn.NewAccount(email: email, password: password, name: name, timeZone: timeZone)
      let now = now()
      let result = try await passwordSignIn.signUp(
        newAccount, context: request.signInContext(.signIn), from: request.clientAddress, at: now)
      return .json(TokenAnswer("Signed up successfully", result, at: now), status: .created)
    }
  }

  /// Ends the session of the bearer, and that of a refresh token that the request may carry.
  @Sendable private func signOut(_ request: Request, _ context: SignedIn) async throws -> Response {
    let now = now()
    var endedSessions: [EndedSession] = []
    if let session = context.session { endedSessions += try await sessions.end(session, of: context.user, at: now) }
    if let presented = try await request.presentedRefreshToken(),
      let other = try await sessions.end(presented, at: now)
    {
      endedSessions.append(other)
    }
    return Response.json(["message": "Logout successful"]).withEndedSessions(endedSessions, ended)
  }

  /// Mails a code and a link that reset the password. The response is the same when no account has the address.
  @Sendable private func requestReset(_ request: Request, _ context: Context) async throws -> Response {
    var request = request
    try await request.bufferBody()
    // Some apps change a password with POST as well.
    if try await request.json(NewPasswordBody.self).password != nil { return try await change(request, context) }
    let body = try await request.json(CredentialsBody.self)
    guard let typed = body.email else { throw Failure.invalid(.init("email", "is required")) }
    let email = try EmailAddress.required(typed, field: "email")
    let isKnown = try await profiles.owner(of: email) != nil
    try await codeSender.sendMail(
      email, for: .recovery, content: .init(subject: email.canonical), sends: isKnown, from: request.clientAddress,
      at: now())
    return .json(["message": "If there is an account with this address, a mail is on its way."])
  }

  /// Authorized by a mailed code or link, or by a bearer and the current password.
  @Sendable private func change(_ request: Request, _ context: Context) async throws -> Response {
    let body = try await request.json(NewPasswordBody.self)
    guard let new = body.password else { throw Failure.invalid(.init("password", "is required")) }
    guard body.confirmation == nil || body.confirmation == new else { throw Failure.passwordConfirmationMismatch }
    let endedSessions: [EndedSession]
    if let link = body.token {
      endedSessions = try await reset(link, body, to: new, from: request.clientAddress)
    } else {
      let me = try SignedIn(context: context)
      guard let current = body.current else { throw Failure.invalid(.init("current_password", "is required")) }
      endedSessions = try await passwordSignIn.change(
        of: me.user, from: current, to: new, keeping: me.session, from: request.clientAddress, at: now())
    }
    return Response.json(["message": "Password changed"]).withEndedSessions(endedSessions, ended)
  }

  private func reset(
    _ token: String, _ body: NewPasswordBody, to new: String, from clientAddress: String
  ) async throws -> [EndedSession] {
    let (now, challenges) = (now(), codeSender.challenges)
    guard let code = OneTimeCode(typed: token) else {
      let link = MailLinkToken(presented: token)
      return try await passwordSignIn.reset(
        by: { try challenges.answer(link, of: [.recovery], at: now, on: $0) }, to: new, from: clientAddress, at: now)
    }
    guard let email = body.email.flatMap(EmailAddress.init) else {
      throw Failure.invalid(.init("email", "is required with a code"))
    }
    return try await passwordSignIn.reset(
      by: { try challenges.answer([.recovery], email.canonical, code: code, at: now, on: $0) }, codeAddress: email,
      to: new, from: clientAddress, at: now)
  }
}

extension Failure {
  static let passwordConfirmationMismatch = Failure.invalid(.init("password_confirmation", "is not the same"))
}

extension Request {
  /// The refresh token that a sign-out may carry, in a header or in the body.
  fileprivate func presentedRefreshToken() async throws -> RefreshToken? {
    if let header = headers[.refreshToken], !header.isEmpty { return RefreshToken(presented: header) }
    struct Body: Decodable { let refresh_token: String? }
    // `try?`: signing out works without a body, and with one that cannot be read.
    return try? await json(Body.self).refresh_token.map { RefreshToken(presented: $0) }
  }
}

extension TokenAnswer<ClientBodies.Profile> {
  fileprivate init(_ message: String, _ result: SignInResult, at now: Date) {
    self.init(result.pair, message: message, user: ClientBodies.Profile(result.profile), at: now)
  }
}
