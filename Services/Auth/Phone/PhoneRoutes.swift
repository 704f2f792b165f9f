import Foundation
import Hummingbird
import Messages
import Web
import Wire

/// Signing in with a number and a code that is sent to it.
struct PhoneRoutes: Sendable {
  let sender: CodeSender
  let door: CodeDoor
  let sessions: SessionStore
  let profiles: ProfileStore
  let refreshing: SessionRoutes
  let signIns: SignIns
  let now: @Sendable () -> Date

  func add(to routes: Router<Context>) {
    routes.post("/api/auth/request-verification", use: request)
    routes.post("/api/auth/verify", use: verify)
    routes.post("/api/auth/verify/confirm", use: confirm)
    routes.post("/api/auth/refresh", use: refresh)
    routes.group(context: SignedIn.self).get("/api/auth/me", use: me)
  }

  @Sendable private func request(_ request: Request, _ context: Context) async throws -> Response {
    let body = try await request.json(PhoneBody.self)
    return try await send(body, lasting: CodeSender.textLifetime, request)
  }

  /// Without a code it asks for one.
  @Sendable private func verify(_ request: Request, _ context: Context) async throws -> Response {
    let body = try await request.json(PhoneBody.self)
    guard body.code == nil else { return try await signIn(body, request) }
    guard ["sms", "whatsapp"].contains(body.channel ?? "sms") else {
      throw Failure.invalid(.init("channel", "must be sms or whatsapp"))
    }
    return try await send(body, lasting: .seconds(600), request)
  }

  @Sendable private func confirm(_ request: Request, _ context: Context) async throws -> Response {
    try await signIn(try await request.json(PhoneBody.self), request)
  }

  private func send(_ body: PhoneBody, lasting lifetime: Duration, _ request: Request) async throws -> Response {
    let number = try body.number()
    try await sender.text(
      number, for: .phone, content: .init(subject: number.text), lifetime: lifetime, from: request.place, at: now())
    return .json(SentBody(message: "Verification code sent", expires_in: Int(lifetime.components.seconds)))
  }

  private func signIn(_ body: PhoneBody, _ request: Request) async throws -> Response {
    try await signIns.counted(.phone) {
      let number = try body.number()
      guard let code = body.code else { throw Failure.invalid(.init("code", "is required")) }
      let now = now()
      let entered = try await door.signIn(
        number, code, name: try DisplayName.optional(body.first_name, field: "first_name"),
        visit: request.visit(.app), from: request.place, at: now)
      return .json(PhoneSignedInBody(entered, at: now))
    }
  }

  /// The token in the query or in the body.
  @Sendable private func refresh(_ request: Request, _ context: Context) async throws -> Response {
    let token = request.uri.queryParameters["refresh_token"].flatMap { $0.isEmpty ? nil : String($0) }
    return try await refreshing.refreshTokens(token.map { RefreshToken(presented: $0) }, request, context)
  }

  @Sendable private func me(_ request: Request, _ context: SignedIn) async throws -> Response {
    guard let profile = try await profiles.profile(of: context.user) else { throw Failure.sessionEnded }
    return .json(PhoneUserBody(profile))
  }
}

private struct PhoneBody: Decodable {
  let phone_number: String
  let code: String?
  let channel: String?
  let first_name: String?

  func number() throws(Failure) -> PhoneNumber { try PhoneNumber.required(phone_number, field: "phone_number") }
}

private struct SentBody: Encodable {
  let message: String
  let expires_in: Int
}

/// A user of an app that knows people by their numbers, and fails to read one whose number or name is null.
struct PhoneUserBody: Encodable {
  let id: UserID
  let phone_number: String
  @OrNull var phone: String?
  let first_name: String

  init(_ profile: Profile) {
    id = profile.account.id
    phone_number = profile.phone?.subject ?? ""
    _phone = OrNull(wrappedValue: profile.phone?.subject)
    first_name = profile.account.displayName ?? ""
  }
}

private struct PhoneSignedInBody: Encodable {
  let access_token: String
  let refresh_token: String
  let token_type = "bearer"
  let expires_in: Int
  let user: PhoneUserBody

  init(_ entered: PasswordDoor.Entered, at now: Date) {
    let tokens = TokenBody(entered.pair, at: now)
    access_token = tokens.access_token
    refresh_token = tokens.refresh_token
    expires_in = tokens.expires_in
    user = PhoneUserBody(entered.profile)
  }
}
