import Foundation
import Hummingbird
import Messages
import Web
import Wire

/// `/auth/v1` as Supabase's client libraries call it (GoTrue's API), and the older calls beside it: signing up and in.
struct SupabaseRoutes: Sendable {
  let passwords: PasswordDoor
  let codes: CodeDoor
  let sender: CodeSender
  let ways: WayStore
  let accounts: AccountStore
  let profiles: ProfileStore
  let refreshing: SessionRoutes
  let apple: SignInWithApple
  let grants: AppleGrants
  let mint: Mint
  let apiKeys: [String]
  /// `ANONYMOUS_SIGN_INS`.
  let takesAnonymous: Bool
  let signIns: SignIns
  let now: @Sendable () -> Date

  func add(to routes: Router<Context>) {
    let door = routes.group("/auth/v1").add(middleware: SupabaseMiddleware(apiKeys: apiKeys))
    door.post("signup", use: signUp)
    door.post("signup/email", use: signUp)
    door.post("signin/email") { request, _ in try await signIn(request.json(SupabaseBody.self), request) }
    door.post("signin/apple") { request, _ in try await signInWithApple(request.json(SupabaseBody.self), request) }
    door.post("token", use: token)
    addCodes(to: door)
  }

  /// With an address and a password, a number and a password (which is asked for a code instead), or as nobody yet.
  @Sendable private func signUp(_ request: Request, _ context: Context) async throws -> Response {
    let body = try await request.json(SupabaseBody.self)
    guard let typed = body.email, !typed.isEmpty else { return try await signUpAsNobody(body, request) }
    return try await signIns.counted(.signUp) {
      let now = now()
      guard let password = body.password else { throw Failure.invalid(.init("password", "is required")) }
      let newcomer = PasswordDoor.Newcomer(
        email: try .required(typed, field: "email"), password: password, name: try body.name(), metadata: body.data,
        redirect: redirect(request), codeChallenge: try body.codeChallenge())
      do {
        let entered = try await passwords.signUp(
          newcomer, visit: request.visit(.supabase).by(.password), from: request.place, at: now)
        return session(entered, now)
      } catch let failure as Failure where failure == .emailTaken {
        throw Failure.userAlreadyExists
      }
    }
  }

  private func signUpAsNobody(_ body: SupabaseBody, _ request: Request) async throws -> Response {
    try await signIns.counted(.anonymous) {
      guard body.phone == nil else { throw Failure.phonePasswords }
      guard takesAnonymous else { throw Failure.anonymousSignInsOff }
      let now = now()
      let opened = try await accounts.openAnonymous(
        metadata: body.data, name: try body.name(), mint: mint, visit: request.visit(.supabase).by(.anonymous), at: now)
      return try await session(opened.pair, opened.user, now)
    }
  }

  @Sendable private func token(_ request: Request, _ context: Context) async throws -> Response {
    let body = try await request.json(SupabaseBody.self)
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
      return try await refreshing.refresh(RefreshToken(presented: text), request, context, body: session)
    default: throw Failure.invalid(.init("grant_type", "must be password, refresh_token, id_token or pkce"))
    }
  }

  private func signIn(_ body: SupabaseBody, _ request: Request) async throws -> Response {
    try await signIns.counted(.password) {
      guard let password = body.password else { throw Failure.invalid(.init("password", "is required")) }
      guard let typed = body.email else { throw Failure.invalid(.init("email", "is required")) }
      let now = now()
      do {
        let visit = request.visit(.supabase).by(.password)
        let entered = try await passwords.signIn(
          EmailAddress(typed), password, visit: visit, from: request.place, at: now)
        return session(entered, now)
      } catch let failure as Failure where failure == .invalidCredentials {
        // GoTrue's status for it: its clients take a 401 for a session that is over.
        throw Failure.invalidLogin
      }
    }
  }

  private func signInWithApple(_ body: SupabaseBody, _ request: Request) async throws -> Response {
    try await signIns.counted(.apple) {
      let now = now()
      var proof = try await proof(of: body, at: now)
      proof.identity.displayName = try body.name()
      let visit = request.visit(.supabase).by(.oauth)
      let entered = try await accounts.signIn(proof.identity, mint: mint, visit: visit, at: now)
      await grants.keep(body.authorization_code, from: proof, of: entered.account.id)
      return try await session(entered.pair, entered.account.id, now)
    }
  }

  /// Adds Apple to the account of whoever is signed in, and opens another session of that account, never of another. It
  /// is as old as the bearer's.
  private func linkApple(_ body: SupabaseBody, _ request: Request, for me: SignedIn) async throws -> Response {
    let (user, now) = (me.user, now())
    let proof = try await proof(of: body, at: now)
    try await ways.add(proof.identity, to: user, at: now)
    await grants.keep(body.authorization_code, from: proof, of: user)
    var visit = request.visit(.supabase).by(.oauth)
    visit.origin = .bearer(me.session)
    let entered = try await ways.database.write { [mint, visit] db in
      guard try AccountStore.hold(user, on: db) else { throw Failure.sessionEnded }
      return try PasswordDoor.entered(user, mint, visit, at: now, on: db)
    }
    return session(entered, now)
  }

  private func proof(of body: SupabaseBody, at now: Date) async throws -> AppleProof {
    guard body.provider == nil || body.provider == "apple" else {
      throw Failure.invalid(.init("provider", "must be apple"))
    }
    guard let token = body.id_token else { throw Failure.invalid(.init("id_token", "is required")) }
    return try await apple.proof(in: token, nonce: body.nonce, at: now)
  }

  // MARK: Answers

  func session(_ entered: PasswordDoor.Entered, _ now: Date) -> Response {
    .json(SupabaseSessionBody(entered.pair, entered.profile, at: now))
  }

  @Sendable private func session(_ pair: TokenPair, _ user: UserID, _ now: Date) async throws -> Response {
    guard let profile = try await profiles.profile(of: user) else { throw Failure.sessionEnded }
    return session((profile, pair), now)
  }

  /// Where a mail's link is to lead: what was asked for, if it may.
  func redirect(_ request: Request) -> String? {
    sender.links.allowed(request.uri.queryParameters["redirect_to"].map(String.init))
  }
}

extension Failure {
  static let userAlreadyExists = Failure(.unprocessable, "user_already_exists", "User already registered")
  static let invalidLogin = Failure(.malformed, "invalid_credentials", "Invalid login credentials")
  static let phonePasswords = Failure(
    .unprocessable, "phone_provider_disabled", "Numbers sign in by a code: call otp instead.")
  static let anonymousSignInsOff = Failure(
    .unprocessable, "anonymous_provider_disabled", "Anonymous sign-ins are disabled")
}
