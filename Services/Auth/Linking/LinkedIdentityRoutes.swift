import ClientBodies
import Foundation
import Hummingbird
import Messages
import Tokens
import Web
import Wire

/// Listing, adding and removing the identities of the signed-in user's account.
struct LinkedIdentityRoutes: Sendable {
  let linkedIdentities: LinkedIdentityStore
  let profiles: ProfileStore
  let codeSender: CodeSender
  let apple: SignInWithApple
  let grants: AppleGrants
  let ended: EndedSessionList
  let now: @Sendable () -> Date

  private static let path: RouterPath = "/api/v1/auth/identities"

  func add(to routes: HTTPRoutes) {
    let userRoutes = routes.group(Self.path).group(context: SignedIn.self)
    userRoutes.get("", use: list)
    userRoutes.post("apple", use: addApple)
    userRoutes.post("email", use: requestEmailCode)
    userRoutes.post("email/confirm", use: addEmail)
    userRoutes.post("phone", use: requestPhoneCode)
    userRoutes.post("phone/confirm", use: addPhone)
    userRoutes.delete("", use: removeIssuer)
    for provider in ["apple", "email", "phone"] {
      userRoutes.delete(RouterPath(provider)) { _, context in try await remove(provider, context) }
    }
  }

  @Sendable private func list(_ request: Request, _ context: SignedIn) async throws -> Response {
    guard let profile = try await profiles.profile(of: context.user) else { throw Failure.sessionEnded }
    return .json(IdentitiesAnswer(identities: profile.identities.compactMap { ClientBodies.Identity($0) }))
  }

  @Sendable private func addApple(_ request: Request, _ context: SignedIn) async throws -> Response {
    let body = try await request.json(AppleTokenBody.self)
    guard let token = body.id_token ?? body.identity_token else {
      throw Failure.invalid(.init("id_token", "is required"))
    }
    let now = now()
    let verified = try await apple.verify(token, nonce: body.nonce, at: now)
    try await linkedIdentities.add(verified.identity, to: context.user, at: now)
    await grants.exchange(body.authorization_code, from: verified, of: context.user)
    return try await list(request, context)
  }

  @Sendable private func requestEmailCode(_ request: Request, _ context: SignedIn) async throws -> Response {
    let email = try EmailAddress.required(try await request.json(LinkedEmailBody.self).email, field: "email")
    try await codeSender.sendMail(
      email, for: .addEmail, content: .init(subject: email.canonical), account: context.user,
      from: request.clientAddress, at: now())
    return .json(["message": "A code is on its way."])
  }

  @Sendable private func addEmail(_ request: Request, _ context: SignedIn) async throws -> Response {
    let body = try await request.json(LinkedEmailBody.self)
    let email = try EmailAddress.required(body.email, field: "email")
    return try await confirm(.addEmail, email.canonical, body.code, request, context)
  }

  @Sendable private func requestPhoneCode(_ request: Request, _ context: SignedIn) async throws -> Response {
    let number = try PhoneNumber.required(
      try await request.json(LinkedPhoneBody.self).phone_number, field: "phone_number")
    try await codeSender.sendSMS(
      number, for: .addPhone, content: .init(subject: number.text), account: context.user, from: request.clientAddress,
      at: now())
    return .json(["message": "A code is on its way."])
  }

  @Sendable private func addPhone(_ request: Request, _ context: SignedIn) async throws -> Response {
    let body = try await request.json(LinkedPhoneBody.self)
    let number = try PhoneNumber.required(body.phone_number, field: "phone_number")
    return try await confirm(.addPhone, number.text, body.code, request, context)
  }

  private func confirm(
    _ kind: Challenge.Kind, _ subject: String, _ typed: String?, _ request: Request, _ context: SignedIn
  ) async throws -> Response {
    guard let code = typed.flatMap({ OneTimeCode(typed: $0) }) else { throw Failure.invalidCode }
    let (now, user, challenges) = (now(), context.user, codeSender.challenges)
    let isAdded = try await linkedIdentities.add(to: user, at: now) { db in
      try challenges.answer([kind], subject, of: .user(user), code: code, at: now, on: db)
    }
    guard isAdded else { throw Failure.invalidCode }
    return try await list(request, context)
  }

  /// Removes an external issuer, whose name is a URL.
  @Sendable private func removeIssuer(_ request: Request, _ context: SignedIn) async throws -> Response {
    guard let issuer = request.uri.queryParameters["issuer"], !issuer.isEmpty else {
      throw Failure.invalid(.init("issuer", "is required"))
    }
    return try await remove(String(issuer), context)
  }

  private func remove(_ provider: String, _ context: SignedIn) async throws -> Response {
    let endedSessions = try await linkedIdentities.remove(provider, from: context.user, at: now())
    return Response(status: .noContent).withEndedSessions(endedSessions, ended)
  }
}

private struct AppleTokenBody: Decodable {
  let id_token: String?
  let identity_token: String?
  let authorization_code: String?
  let nonce: String?
}

private struct LinkedEmailBody: Decodable {
  let email: String
  let code: String?
}

private struct LinkedPhoneBody: Decodable {
  let phone_number: String
  let code: String?
}

extension ClientBodies.Identity {
  fileprivate init?(_ identity: Profile.LinkedIdentity) {
    guard let provider = identity.provider else { return nil }
    self.init(
      provider: provider, subject: identity.subject, email: identity.email,
      verified: identity.issuer != Identity.emailIssuer || identity.isEmailVerified, createdAt: identity.createdAt)
  }
}
