import ClientBodies
import Foundation
import Hummingbird
import Web
import Wire

/// Sign in with Apple, and the tokens for developers.
struct SignInRoutes: Sendable {
  let accounts: AccountStore
  let profiles: ProfileStore
  let tokenIssuer: TokenPairIssuer
  let apple: SignInWithApple
  let grants: AppleGrants
  let adminKey: String
  let signInCounter: SignInCounter
  let now: @Sendable () -> Date

  func add(to routes: HTTPRoutes) {
    routes.post("/api/v1/auth/apple", use: signInWithApple)
    routes.post("/api/v1/auth/dev/token", use: developerToken)
  }

  @Sendable private func signInWithApple(_ request: Request, _ context: Context) async throws -> Response {
    try await signInCounter.counted(.apple) {
      let body = try await request.json(AppleBody.self)
      var verified = try await apple.verify(try body.token(), nonce: body.nonce, at: now())
      verified.identity.displayName = try DisplayName.optional(body.name?.text, field: "name")
      let now = now()
      let (account, pair) = try await signIn(verified.identity, request, at: now)
      await grants.exchange(body.authorization_code, from: verified, of: account.id)
      guard let profile = try await profiles.profile(of: account.id) else { throw Failure.sessionEnded }
      return .json(TokenAnswer(pair, user: ClientBodies.Profile(profile), at: now))
    }
  }

  /// For tests and scripts without an iPhone. The admin key is checked before the body is read.
  @Sendable private func developerToken(_ request: Request, _ context: Context) async throws -> Response {
    try await signInCounter.counted(.developer) {
      try requireAdmin(request, adminKey)
      let body = try await request.json(DeveloperBody.self)
      var identity = Identity.developer(try .required(body.email, field: "email"))
      identity.displayName = try DisplayName.optional(body.display_name, field: "display_name")
      let now = now()
      return .json(TokenAnswer(try await signIn(identity, request, at: now).pair, at: now))
    }
  }

  private func signIn(
    _ identity: Identity, _ request: Request, at now: Date
  ) async throws -> (account: Account, pair: TokenPair) {
    try await accounts.signIn(identity, tokenIssuer: tokenIssuer, context: request.signInContext(.app), at: now)
  }
}

/// The body of `/api/v1/auth/apple`: older apps send `identity_token`, others `id_token` with a `nonce`.
private struct AppleBody: Decodable {
  let identity_token: String?
  let id_token: String?
  let authorization_code: String?
  let nonce: String?
  let name: PersonName?

  /// - Throws: the validation failure when both are missing.
  func token() throws(Failure) -> String {
    guard let token = identity_token ?? id_token, !token.isEmpty else {
      throw .invalid(.init("identity_token", "is required"))
    }
    return token
  }
}

/// A name as one string, or in the fields of `PersonNameComponents`.
private struct PersonName: Decodable {
  let text: String

  private enum Key: String, CodingKey { case firstName, lastName, givenName, familyName }

  init(from decoder: any Decoder) throws {
    // `try?`: not a string means that it must be an object.
    if let whole = try? decoder.singleValueContainer().decode(String.self) {
      text = whole
      return
    }
    let parts = try decoder.container(keyedBy: Key.self)
    let given =
      try parts.decodeIfPresent(String.self, forKey: .firstName)
      ?? parts.decodeIfPresent(String.self, forKey: .givenName)
    let family =
      try parts.decodeIfPresent(String.self, forKey: .lastName)
      ?? parts.decodeIfPresent(String.self, forKey: .familyName)
    text = [given, family].compactMap { $0 }.joined(separator: " ")
  }
}

private struct DeveloperBody: Decodable {
  let email: String
  let display_name: String?
}
