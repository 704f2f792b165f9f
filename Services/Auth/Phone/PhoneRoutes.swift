import ClientBodies
import Foundation
import Hummingbird
import Messages
import Web
import Wire

/// Sign-in with a phone number and a code that is sent to it.
struct PhoneRoutes: Sendable {
  let codeSender: CodeSender
  let codeSignIn: CodeSignIn
  let sessions: SessionStore
  let profiles: ProfileStore
  let sessionRoutes: SessionRoutes
  let signInCounter: SignInCounter
  let now: @Sendable () -> Date

  func add(to routes: HTTPRoutes) {
    routes.post("/api/auth/request-verification", use: requestCode)
    routes.post("/api/auth/verify", use: verify)
    routes.post("/api/auth/verify/confirm", use: confirm)
    routes.post("/api/auth/refresh", use: refresh)
    routes.group(context: SignedIn.self).get("/api/auth/me", use: me)
  }

  @Sendable private func requestCode(_ request: Request, _ context: Context) async throws -> Response {
    let body = try await request.json(PhoneBody.self)
    return try await send(body, lifetime: CodeSender.smsLifetime, request)
  }

  /// Sends a code when the request has none, else signs in with it.
  @Sendable private func verify(_ request: Request, _ context: Context) async throws -> Response {
    let body = try await request.json(PhoneBody.self)
    guard body.code == nil else { return try await signIn(body, request) }
    guard ["sms", "whatsapp"].contains(body.channel ?? "sms") else {
      throw Failure.invalid(.init("channel", "must be sms or whatsapp"))
    }
    return try await send(body, lifetime: .seconds(600), request)
  }

  @Sendable private func confirm(_ request: Request, _ context: Context) async throws -> Response {
    try await signIn(try await request.json(PhoneBody.self), request)
  }

  private func send(_ body: PhoneBody, lifetime: Duration, _ request: Request) async throws -> Response {
    let number = try body.number()
    try await codeSender.sendSMS(
      number, for: .phone, content: .init(subject: number.text), lifetime: lifetime, from: request.clientAddress,
      at: now())
    return .json(SentCode(message: "Verification code sent", expiresIn: Double(lifetime.components.seconds)))
  }

  private func signIn(_ body: PhoneBody, _ request: Request) async throws -> Response {
    try await signInCounter.counted(.phone) {
      let number = try body.number()
      guard let code = body.code else { throw Failure.invalid(.init("code", "is required")) }
      let now = now()
      let result = try await codeSignIn.signIn(
        number, code, name: try DisplayName.optional(body.first_name, field: "first_name"),
        context: request.signInContext(.app), from: request.clientAddress, at: now)
      return .json(TokenAnswer(result.pair, hasToken: false, user: PhoneUser(result.profile), at: now))
    }
  }

  /// Refreshes the session; the refresh token is in the query or in the body.
  @Sendable private func refresh(_ request: Request, _ context: Context) async throws -> Response {
    let token = request.uri.queryParameters["refresh_token"].flatMap { $0.isEmpty ? nil : String($0) }
    return try await sessionRoutes.refreshWithoutUser(token.map { RefreshToken(presented: $0) }, request, context)
  }

  @Sendable private func me(_ request: Request, _ context: SignedIn) async throws -> Response {
    guard let profile = try await profiles.profile(of: context.user) else { throw Failure.sessionEnded }
    return .json(PhoneUser(profile))
  }
}

private struct PhoneBody: Decodable {
  let phone_number: String
  let code: String?
  let channel: String?
  let first_name: String?

  func number() throws(Failure) -> PhoneNumber { try PhoneNumber.required(phone_number, field: "phone_number") }
}

/// A user for apps that identify users by phone number. Such an app cannot decode a user whose number or name is null.
extension PhoneUser {
  fileprivate init(_ profile: Profile) {
    self.init(
      id: profile.account.id.description, phoneNumber: profile.phone?.subject ?? "", phone: profile.phone?.subject,
      firstName: profile.account.displayName ?? "")
  }
}
