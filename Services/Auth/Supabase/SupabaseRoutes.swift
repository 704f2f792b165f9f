import ClientBodies
import Foundation
import Hummingbird
import Messages
import Web
import Wire

/// Sign-up and sign-in at `/auth/v1` for Supabase's client libraries (GoTrue's API), with older paths besides.
struct SupabaseRoutes: Sendable {
  let passwordSignIn: PasswordSignIn
  let codeSignIn: CodeSignIn
  let codeSender: CodeSender
  let linkedIdentities: LinkedIdentityStore
  let accounts: AccountStore
  let profiles: ProfileStore
  let sessionRoutes: SessionRoutes
  let apple: SignInWithApple
  let grants: AppleGrants
  let tokenIssuer: TokenPairIssuer
  let apiKeys: [String]
  /// `ANONYMOUS_SIGN_INS`.
  let allowsAnonymous: Bool
  let signInCounter: SignInCounter
  let now: @Sendable () -> Date

  func add(to routes: HTTPRoutes) {
    let group = routes.group("/auth/v1").add(middleware: SupabaseMiddleware(apiKeys: apiKeys))
    group.post("signup", use: signUp)
    group.post("signup/email", use: signUp)
    group.post("signin/email") { request, _ in try await signIn(request.json(SupabaseRequestBody.self), request) }
    group.post("signin/apple") { request, _ in
      try await signInWithApple(request.json(SupabaseRequestBody.self), request)
    }
    group.post("token", use: token)
    addCodes(to: group)
  }

  /// Signs up with an e-mail address and a password, or anonymously without an address. A phone number is rejected: it
  /// signs in with a code.
  @Sendable private func signUp(_ request: Request, _ context: Context) async throws -> Response {
    let body = try await request.json(SupabaseRequestBody.self)
    guard let typed = body.email, !typed.isEmpty else { return try await signUpAnonymously(body, request) }
    return try await signInCounter.counted(.signUp) {
      let now = now()
      guard let password = body.password else { throw Failure.invalid(.init("password", "is required")) }
      let newAccount = PasswordSignIn.NewAccount(
        email: try .required(typed, field: "email"), password: password, name: try body.name(), metadata: body.data,
        redirect: redirect(request), codeChallenge: try body.codeChallenge())
      do {
        let result = try await passwordSignIn.signUp(
          newAccount, context: request.signInContext(.supabase).by(.password), from: request.clientAddress, at: now)
        return session(result, now)
      } catch let failure as Failure where failure == .emailTaken {
        throw Failure.userAlreadyExists
      }
    }
  }

  private func signUpAnonymously(_ body: SupabaseRequestBody, _ request: Request) async throws -> Response {
    try await signInCounter.counted(.anonymous) {
      guard body.phone == nil else { throw Failure.phonePasswordsUnsupported }
      guard allowsAnonymous else { throw Failure.anonymousSignInsDisabled }
      let now = now()
      let opened = try await accounts.signInAnonymously(
        metadata: body.data, name: try body.name(), tokenIssuer: tokenIssuer,
        context: request.signInContext(.supabase).by(.anonymous), at: now)
      return try await session(opened.pair, opened.user, now)
    }
  }

  @Sendable private func token(_ request: Request, _ context: Context) async throws -> Response {
    let body = try await request.json(SupabaseRequestBody.self)
    switch request.uri.queryParameters["grant_type"] {
    case "password": return try await signIn(body, request)
    case "id_token" where body.link_identity == true:
      return try await linkApple(body, request, for: SignedIn(context: context))
    case "id_token": return try await signInWithApple(body, request)
    case "pkce": return try await exchange(body, request)
    case "refresh_token":
      guard let text = body.refresh_token, !text.isEmpty else {
        throw Failure.invalid(.init("refresh_token", "is required"))
      }
      return try await sessionRoutes.refreshForSupabase(
        RefreshToken(presented: text), request, context, response: session)
    default: throw Failure.invalid(.init("grant_type", "must be password, refresh_token, id_token or pkce"))
    }
  }

  private func signIn(_ body: SupabaseRequestBody, _ request: Request) async throws -> Response {
    try await signInCounter.counted(.password) {
      guard let password = body.password else { throw Failure.invalid(.init("password", "is required")) }
      guard let typed = body.email else { throw Failure.invalid(.init("email", "is required")) }
      let now = now()
      do {
        let signInContext = request.signInContext(.supabase).by(.password)
        let result = try await passwordSignIn.signIn(
          EmailAddress(typed), password, context: signInContext, from: request.clientAddress, at: now)
        return session(result, now)
      } catch let failure as Failure where failure == .invalidCredentials {
        // GoTrue's status is 400: its clients treat a 401 as an ended session.
        throw Failure.invalidLogin
      }
    }
  }

  private func signInWithApple(_ body: SupabaseRequestBody, _ request: Request) async throws -> Response {
    try await signInCounter.counted(.apple) {
      let now = now()
      var verified = try await verified(of: body, at: now)
      verified.identity.displayName = try body.name()
      let signInContext = request.signInContext(.supabase).by(.oauth)
      let signedIn = try await accounts.signIn(
        verified.identity, tokenIssuer: tokenIssuer, context: signInContext, at: now)
      await grants.exchange(body.authorization_code, from: verified, of: signedIn.account.id)
      return try await session(signedIn.pair, signedIn.account.id, now)
    }
  }

  /// Links Apple to the signed-in user's account and opens another session of that account, which counts as opened when
  /// the bearer's session was.
  private func linkApple(_ body: SupabaseRequestBody, _ request: Request, for me: SignedIn) async throws -> Response {
    let (user, now) = (me.user, now())
    let verified = try await verified(of: body, at: now)
    try await linkedIdentities.add(verified.identity, to: user, at: now)
    await grants.exchange(body.authorization_code, from: verified, of: user)
    var signInContext = request.signInContext(.supabase).by(.oauth)
    signInContext.origin = .bearer(me.session)
    let result = try await linkedIdentities.database.write { [tokenIssuer, signInContext] db in
      guard try AccountStore.lockActive(user, on: db) else { throw Failure.sessionEnded }
      return try SessionStore.signIn(user, tokenIssuer, signInContext, at: now, on: db)
    }
    return session(result, now)
  }

  private func verified(of body: SupabaseRequestBody, at now: Date) async throws -> VerifiedAppleIdentity {
    guard body.provider == nil || body.provider == "apple" else {
      throw Failure.invalid(.init("provider", "must be apple"))
    }
    guard let token = body.id_token else { throw Failure.invalid(.init("id_token", "is required")) }
    return try await apple.verify(token, nonce: body.nonce, at: now)
  }

  // MARK: Responses

  func session(_ result: SignInResult, _ now: Date) -> Response {
    .json(
      TokenAnswer(
        result.pair, hasToken: false, hasExpiry: true, user: SupabaseUserBody(result.profile, at: now), at: now))
  }

  @Sendable private func session(_ pair: TokenPair, _ user: UserID, _ now: Date) async throws -> Response {
    guard let profile = try await profiles.profile(of: user) else { throw Failure.sessionEnded }
    return session((profile, pair), now)
  }

  /// Where a mailed link redirects to: the requested URL if it is allowed, else the default.
  func redirect(_ request: Request) -> String? {
    codeSender.links.allowedRedirect(request.uri.queryParameters["redirect_to"].map(String.init))
  }
}

extension Failure {
  static let userAlreadyExists = Failure(.unprocessable, "user_already_exists", "User already registered")
  static let invalidLogin = Failure(.malformed, "invalid_credentials", "Invalid login credentials")
  static let phonePasswordsUnsupported = Failure(
    .unprocessable, "phone_provider_disabled", "Numbers sign in by a code: call otp instead.")
  static let anonymousSignInsDisabled = Failure(
    .unprocessable, "anonymous_provider_disabled", "Anonymous sign-ins are disabled")
}
