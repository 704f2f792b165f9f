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
  let signIns: SignIns
  let now: @Sendable () -> Date

  func add(to routes: Router<Context>) {
    let door = routes.group("/auth/v1").add(middleware: SupabaseMiddleware(apiKeys: apiKeys))
    door.post("signup", use: signUp)
    door.post("signup/email", use: signUp)
    door.post("signin/email") { request, _ in try await signIn(request.json(SupabaseBody.self), request) }
    door.post("signin/apple") { request, _ in try await signInWithApple(request.json(SupabaseBody.self), request) }
    door.post("token", use: token)
    door.post("otp", use: otp)
    door.post("magiclink", use: otp)
    door.post("recover", use: recover)
    door.post("verify", use: verify)
  }

  /// With an address and a password, a number and a password (which is asked for a code instead), or as nobody yet.
  @Sendable private func signUp(_ request: Request, _ context: Context) async throws -> Response {
    let body = try await request.json(SupabaseBody.self)
    guard let typed = body.email, !typed.isEmpty else { return try await signUpAsNobody(body, request) }
    return try await signIns.counted(.signUp) {
      let now = now()
      guard let password = body.password else { throw Failure.invalid(.init("password", "is required")) }
      let newcomer = PasswordDoor.Newcomer(
        email: try .required(typed, field: "email"), password: password, name: try body.name(), metadata: body.data)
      do {
        let entered = try await passwords.signUp(
          newcomer, visit: request.visit(.supabase), from: request.place, at: now)
        return .json(SupabaseSessionBody(entered.pair, entered.profile, at: now))
      } catch let failure as Failure where failure == .emailTaken {
        throw Failure.userAlreadyExists
      }
    }
  }

  private func signUpAsNobody(_ body: SupabaseBody, _ request: Request) async throws -> Response {
    try await signIns.counted(.anonymous) {
      guard body.phone == nil else { throw Failure.phonePasswords }
      let now = now()
      let pair = try await accounts.openAnonymous(
        metadata: body.data, name: try body.name(), mint: mint, visit: request.visit(.supabase), at: now)
      return try await session(pair.pair, pair.user, now)
    }
  }

  @Sendable private func token(_ request: Request, _ context: Context) async throws -> Response {
    let body = try await request.json(SupabaseBody.self)
    switch request.uri.queryParameters["grant_type"] {
    case "password": return try await signIn(body, request)
    case "id_token": return try await signInWithApple(body, request)
    case "refresh_token":
      guard let text = body.refresh_token, !text.isEmpty else {
        throw Failure.invalid(.init("refresh_token", "is required"))
      }
      return try await refreshing.refresh(RefreshToken(presented: text), request, context, body: session)
    default: throw Failure.invalid(.init("grant_type", "must be password, refresh_token or id_token"))
    }
  }

  private func signIn(_ body: SupabaseBody, _ request: Request) async throws -> Response {
    try await signIns.counted(.password) {
      guard let password = body.password else { throw Failure.invalid(.init("password", "is required")) }
      guard let typed = body.email else { throw Failure.invalid(.init("email", "is required")) }
      let now = now()
      do {
        let entered = try await passwords.signIn(
          EmailAddress(typed), password, visit: request.visit(.supabase), from: request.place, at: now)
        return .json(SupabaseSessionBody(entered.pair, entered.profile, at: now))
      } catch let failure as Failure where failure == .invalidCredentials {
        // GoTrue's status for it: its clients take a 401 for a session that is over.
        throw Failure.invalidLogin
      }
    }
  }

  private func signInWithApple(_ body: SupabaseBody, _ request: Request) async throws -> Response {
    try await signIns.counted(.apple) {
      guard body.provider == nil || body.provider == "apple" else {
        throw Failure.invalid(.init("provider", "must be apple"))
      }
      guard let token = body.id_token else { throw Failure.invalid(.init("id_token", "is required")) }
      let now = now()
      var proof = try await apple.proof(in: token, nonce: body.nonce, at: now)
      proof.identity.displayName = try body.name()
      let entered = try await accounts.signIn(proof.identity, mint: mint, visit: request.visit(.supabase), at: now)
      await grants.keep(body.authorization_code, from: proof, of: entered.account.id)
      return try await session(entered.pair, entered.account.id, now)
    }
  }

  /// A code by text or by mail, with a link. The answer is the same whoever the address belongs to.
  @Sendable private func otp(_ request: Request, _ context: Context) async throws -> Response {
    let body = try await request.json(SupabaseBody.self)
    let redirect = request.uri.queryParameters["redirect_to"].map(String.init)
    var content = Challenge.Content(
      subject: "", name: try body.name(), metadata: body.data, createsUser: body.create_user ?? true,
      redirect: sender.links.allowed(redirect))
    if let typed = body.phone, !typed.isEmpty {
      let number = try PhoneNumber.required(typed.hasPrefix("+") ? typed : "+" + typed, field: "phone")
      content = content.about(number.text)
      try await sender.text(number, for: .phone, content: content, from: request.place, at: now())
    } else {
      guard let typed = body.email else { throw Failure.invalid(.init("email", "or phone is required")) }
      let email = try EmailAddress.required(typed, field: "email")
      let isKnown = try await profiles.owner(of: email) != nil
      try await sender.mail(
        email, for: .email, content: content.about(email.canonical), sends: isKnown || content.createsUser,
        from: request.place, at: now())
    }
    return .json(["message_id": String?.none])
  }

  @Sendable private func recover(_ request: Request, _ context: Context) async throws -> Response {
    let body = try await request.json(SupabaseBody.self)
    guard let typed = body.email else { throw Failure.invalid(.init("email", "is required")) }
    let email = try EmailAddress.required(typed, field: "email")
    let redirect = request.uri.queryParameters["redirect_to"].map(String.init)
    let isKnown = try await profiles.owner(of: email) != nil
    try await sender.mail(
      email, for: .recovery, content: .init(subject: email.canonical, redirect: sender.links.allowed(redirect)),
      sends: isKnown, from: request.place, at: now())
    return .json([String: String]())
  }

  @Sendable private func verify(_ request: Request, _ context: Context) async throws -> Response {
    if request.isForm {
      return try await signIns.countingFailures(of: .mail) {
        let page = try await LinkPage(codes: codes, links: sender.links, now: now).consume(request)
        signIns.count(.mail, page.status == .gone ? .refused : .done)
        return page
      }
    }
    let body = try await request.json(SupabaseBody.self)
    if let kind = Challenge.Kind(adding: body.type) {
      return try await added(kind, body, request, by: try SignedIn(context: context).user)
    }
    let isText = body.type == "sms" || body.phone != nil
    return try await signIns.counted(isText ? .phone : .mail) {
      let now = now()
      do {
        let entered = try await answered(body, request, at: now)
        return .json(SupabaseSessionBody(entered.pair, entered.profile, at: now))
      } catch let failure as Failure where failure == .invalidCode {
        throw Failure.otpExpired
      }
    }
  }

  private func answered(_ body: SupabaseBody, _ request: Request, at now: Date) async throws -> PasswordDoor.Entered {
    let (visit, place) = (request.visit(.supabase), request.place)
    if let hash = body.token_hash {
      return try await codes.signIn(LinkToken(presented: hash), visit: visit, from: place, at: now)
    }
    guard let token = body.token else { throw Failure.invalid(.init("token", "is required")) }
    if let typed = body.phone {
      let number = try PhoneNumber.required(typed.hasPrefix("+") ? typed : "+" + typed, field: "phone")
      return try await codes.signIn(number, token, name: nil, visit: visit, from: place, at: now)
    }
    guard let typed = body.email else { throw Failure.invalid(.init("email", "or phone is required")) }
    let email = try EmailAddress.required(typed, field: "email")
    let kinds: [Challenge.Kind] =
      switch body.type {
      case "recovery": [.recovery]
      case "signup": [.confirmation]
      default: [.email, .confirmation]
      }
    return try await codes.signIn(email, token, kinds: kinds, visit: visit, from: place, at: now)
  }

  @Sendable private func session(_ pair: TokenPair, _ user: UserID, _ now: Date) async throws -> Response {
    guard let profile = try await profiles.profile(of: user) else { throw Failure.sessionEnded }
    return .json(SupabaseSessionBody(pair, profile, at: now))
  }
}

extension Challenge.Content {
  fileprivate func about(_ subject: String) -> Challenge.Content {
    Challenge.Content(
      subject: subject, name: name, metadata: metadata, createsUser: createsUser, redirect: redirect)
  }
}

extension Failure {
  static let userAlreadyExists = Failure(.unprocessable, "user_already_exists", "User already registered")
  static let invalidLogin = Failure(.malformed, "invalid_credentials", "Invalid login credentials")
  static let otpExpired = Failure(.forbidden, "otp_expired", "Token has expired or is invalid")
  static let phonePasswords = Failure(
    .unprocessable, "phone_provider_disabled", "Numbers sign in by a code: call otp instead.")
}
