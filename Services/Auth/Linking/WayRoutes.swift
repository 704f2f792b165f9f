import Foundation
import Hummingbird
import Messages
import Tokens
import Web
import Wire

/// The ways in to one's own account: shown, added and taken away.
struct WayRoutes: Sendable {
  let ways: WayStore
  let profiles: ProfileStore
  let sender: CodeSender
  let apple: SignInWithApple
  let grants: AppleGrants
  let ended: EndedSessionList
  let now: @Sendable () -> Date

  private static let path: RouterPath = "/api/v1/auth/identities"

  func add(to routes: Router<Context>) {
    let mine = routes.group(Self.path).group(context: SignedIn.self)
    mine.get("", use: list)
    mine.post("apple", use: addApple)
    mine.post("email", use: askForEmail)
    mine.post("email/confirm", use: addEmail)
    mine.post("phone", use: askForPhone)
    mine.post("phone/confirm", use: addPhone)
    mine.delete("", use: removeIssuer)
    for provider in ["apple", "email", "phone"] {
      mine.delete(RouterPath(provider)) { _, context in try await remove(provider, context) }
    }
  }

  @Sendable private func list(_ request: Request, _ context: SignedIn) async throws -> Response {
    guard let profile = try await profiles.profile(of: context.user) else { throw Failure.sessionEnded }
    return .json(["identities": profile.ways.compactMap(WayBody.init)])
  }

  @Sendable private func addApple(_ request: Request, _ context: SignedIn) async throws -> Response {
    let body = try await request.json(AppleTokenBody.self)
    guard let token = body.id_token ?? body.identity_token else {
      throw Failure.invalid(.init("id_token", "is required"))
    }
    let now = now()
    let proof = try await apple.proof(in: token, nonce: body.nonce, at: now)
    try await ways.add(proof.identity, to: context.user, at: now)
    await grants.keep(body.authorization_code, from: proof, of: context.user)
    return try await list(request, context)
  }

  @Sendable private func askForEmail(_ request: Request, _ context: SignedIn) async throws -> Response {
    let email = try EmailAddress.required(try await request.json(WayEmailBody.self).email, field: "email")
    try await sender.mail(
      email, for: .addEmail, content: .init(subject: email.canonical), account: context.user, from: request.place,
      at: now())
    return .json(["message": "A code is on its way."])
  }

  @Sendable private func addEmail(_ request: Request, _ context: SignedIn) async throws -> Response {
    let body = try await request.json(WayEmailBody.self)
    let email = try EmailAddress.required(body.email, field: "email")
    return try await confirm(.addEmail, email.canonical, body.code, request, context)
  }

  @Sendable private func askForPhone(_ request: Request, _ context: SignedIn) async throws -> Response {
    let number = try PhoneNumber.required(
      try await request.json(WayPhoneBody.self).phone_number, field: "phone_number")
    try await sender.text(
      number, for: .addPhone, content: .init(subject: number.text), account: context.user, from: request.place,
      at: now())
    return .json(["message": "A code is on its way."])
  }

  @Sendable private func addPhone(_ request: Request, _ context: SignedIn) async throws -> Response {
    let body = try await request.json(WayPhoneBody.self)
    let number = try PhoneNumber.required(body.phone_number, field: "phone_number")
    return try await confirm(.addPhone, number.text, body.code, request, context)
  }

  private func confirm(
    _ kind: Challenge.Kind, _ subject: String, _ typed: String?, _ request: Request, _ context: SignedIn
  ) async throws -> Response {
    guard let code = typed.flatMap({ OneTimeCode(typed: $0) }) else { throw Failure.invalidCode }
    let (now, user, challenges) = (now(), context.user, sender.challenges)
    let isAdded = try await ways.add(to: user, at: now) { db in
      try challenges.answer([kind], subject, of: .user(user), code: code, at: now, on: db)
    }
    guard isAdded else { throw Failure.invalidCode }
    return try await list(request, context)
  }

  /// An outside issuer, whose name is a URL.
  @Sendable private func removeIssuer(_ request: Request, _ context: SignedIn) async throws -> Response {
    guard let issuer = request.uri.queryParameters["issuer"], !issuer.isEmpty else {
      throw Failure.invalid(.init("issuer", "is required"))
    }
    return try await remove(String(issuer), context)
  }

  private func remove(_ provider: String, _ context: SignedIn) async throws -> Response {
    let over = try await ways.remove(provider, from: context.user, at: now())
    return Response(status: .noContent).ending(over, ended)
  }
}

private struct AppleTokenBody: Decodable {
  let id_token: String?
  let identity_token: String?
  let authorization_code: String?
  let nonce: String?
}

private struct WayEmailBody: Decodable {
  let email: String
  let code: String?
}

private struct WayPhoneBody: Decodable {
  let phone_number: String
  let code: String?
}

private struct WayBody: Encodable {
  let provider: String
  let subject: String
  @OrNull var email: String?
  let verified: Bool
  let created_at: Date

  init?(_ way: Profile.Way) {
    guard let provider = way.provider else { return nil }
    self.provider = provider
    subject = way.subject
    _email = OrNull(wrappedValue: way.email)
    verified = way.issuer != Identity.emailIssuer || way.isEmailVerified
    created_at = way.createdAt
  }
}
