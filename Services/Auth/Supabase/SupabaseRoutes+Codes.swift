import Foundation
import Hummingbird
import Messages
import Web
import Wire

/// Sending, resending and verifying codes and links.
extension SupabaseRoutes {
  func addCodes(to group: RouterGroup<Context>) {
    group.post("otp", use: otp)
    group.post("magiclink", use: otp)
    group.post("recover", use: recover)
    group.post("resend", use: resend)
    group.post("verify", use: verify)
  }

  // MARK: Sending

  /// Sends a code by SMS, or a code and a link by mail. The response is the same whether or not the account exists.
  @Sendable private func otp(_ request: Request, _ context: Context) async throws -> Response {
    let body = try await request.json(SupabaseRequestBody.self)
    let createsUser = body.create_user ?? true
    func content(_ subject: String) throws -> Challenge.Content {
      Challenge.Content(
        subject: subject, name: try body.name(), metadata: body.data, createsUser: createsUser,
        redirect: redirect(request), codeChallenge: try body.codeChallenge())
    }
    if let number = try body.number() {
      let isKnown = try await profiles.owner(of: number) != nil
      try await codeSender.sendSMS(
        number, for: .phone, content: try content(number.text), sends: isKnown || createsUser,
        from: request.clientAddress, at: now())
    } else {
      guard body.email != nil else { throw Failure.invalid(.init("email", "or phone is required")) }
      let email = try body.address()
      let isKnown = try await profiles.owner(of: email) != nil
      let claim = try await confirmation(of: email)
      if !createsUser, let claim, claim.account == context.signedInCaller?.user {
        var content = claim.content
        (content.redirect, content.codeChallenge) = (redirect(request), try body.codeChallenge())
        try await codeSender.sendMail(
          email, for: .confirmation, content: content, account: claim.account, from: request.clientAddress, at: now())
        return Self.sent
      }
      // A code for an address that is only claimed can only create an account.
      try await codeSender.sendMail(
        email, for: .email, content: try content(email.canonical), sends: createsUser || isKnown && claim == nil,
        from: request.clientAddress, at: now())
    }
    return Self.sent
  }

  @Sendable private func recover(_ request: Request, _ context: Context) async throws -> Response {
    let body = try await request.json(SupabaseRequestBody.self)
    let email = try body.address()
    let content = Challenge.Content(
      subject: email.canonical, redirect: redirect(request), codeChallenge: try body.codeChallenge())
    let isKnown = try await profiles.owner(of: email) != nil
    try await codeSender.sendMail(
      email, for: .recovery, content: content, sends: isKnown, from: request.clientAddress, at: now())
    return .json([String: String]())
  }

  /// Sends a pending code once more. The response is the same when none is pending.
  @Sendable private func resend(_ request: Request, _ context: Context) async throws -> Response {
    let body = try await request.json(SupabaseRequestBody.self)
    let now = now()
    switch body.type {
    case "signup", "email_change":
      let email = try body.address()
      var pending = try await body.type == "signup" ? confirmation(of: email) : change(to: email, at: now)
      pending?.content.redirect = redirect(request)
      let codeChallenge = try body.codeChallenge()
      // A link whose app presents the verifier requires no password: the app must be that of the user who claims the
      // address.
      if body.type != "signup" || pending?.account == context.signedInCaller?.user {
        pending?.content.codeChallenge = codeChallenge
      }
      let content = pending?.content ?? .init(subject: email.canonical)
      try await codeSender.sendMail(
        pending?.address ?? email, for: body.type == "signup" ? .confirmation : .changeEmail, content: content,
        account: pending?.account, sends: pending != nil, from: request.clientAddress, at: now)
    case "sms", "phone_change":
      guard let number = try body.number() else { throw Failure.invalid(.init("phone", "is required")) }
      let kind = body.type == "sms" ? Challenge.Kind.phone : .changePhone
      let pending = try await codeSignIn.database.read { [codeSignIn] db in
        try codeSignIn.challenges.pending(kind, number.text, at: now, on: db)
      }
      try await codeSender.sendSMS(
        number, for: kind, content: pending?.content ?? .init(subject: number.text), account: pending?.account,
        sends: pending != nil, from: request.clientAddress, at: now)
    default: throw Failure.invalid(.init("type", "must be signup, email_change, sms or phone_change"))
    }
    return Self.sent
  }

  private typealias PendingMail = (address: EmailAddress, content: Challenge.Content, account: UserID)

  /// The confirmation of an address that an account claims and has not confirmed; nil when there is none.
  private func confirmation(of email: EmailAddress) async throws -> PendingMail? {
    try await codeSignIn.database.read { db in
      guard try AccountStore.isOnlyClaimed(email.canonical, on: db),
        let claimingUser = try AccountStore.owner(ofEmail: email.canonical, on: db)
      else { return nil }
      return (email, .init(subject: email.canonical), claimingUser)
    }
  }

  /// The pending change to this address, or of the account that has it; nil when there is none.
  private func change(to email: EmailAddress, at now: Date) async throws -> PendingMail? {
    try await codeSignIn.database.read { db in
      guard let pending = try PendingEmailChange.find(for: email, at: now, on: db),
        let address = EmailAddress(pending.address)
      else { return nil }
      return (address, .init(subject: address.canonical), pending.user)
    }
  }

  private static var sent: Response { .json(["message_id": String?.none]) }

  // MARK: Verifying

  @Sendable private func verify(_ request: Request, _ context: Context) async throws -> Response {
    if request.isForm {
      return try await signInCounter.countingFailures(of: .mail) {
        let page = try await MailLinkPage(
          codeSignIn: codeSignIn, passwordSignIn: passwordSignIn, links: codeSender.links, now: now
        ).submit(request)
        signInCounter.count(.mail, page.status.code >= 400 ? .refused : .done)
        return page
      }
    }
    let body = try await request.json(SupabaseRequestBody.self)
    let isSMS = body.type == "sms" || body.phone != nil
    return try await signInCounter.counted(isSMS ? .phone : .mail) {
      let now = now()
      do {
        return session(try await verifiedSession(body, request, context.signedInCaller, at: now), now)
      } catch let failure as Failure where failure == .invalidCode {
        throw Failure.otpExpired
      }
    }
  }

  private func verifiedSession(
    _ body: SupabaseRequestBody, _ request: Request, _ caller: CodeSignIn.SignedInCaller?, at now: Date
  ) async throws -> SignInResult {
    let (signInContext, clientAddress) = (request.signInContext(.supabase), request.clientAddress)
    if let hash = body.token_hash {
      return try await codeSignIn.signIn(
        MailLinkToken(presented: hash), authenticatedUser: caller?.user, context: signInContext, from: clientAddress,
        at: now)
    }
    guard let token = body.token else { throw Failure.invalid(.init("token", "is required")) }
    if body.type == "phone_change" || body.type != "email_change" && body.phone != nil {
      guard let number = try body.number() else { throw Failure.invalid(.init("phone", "is required")) }
      guard body.type == "phone_change" else {
        return try await codeSignIn.signIn(
          number, token, name: nil, context: signInContext, from: clientAddress, at: now)
      }
      return try await codeSignIn.change(
        .changePhone, number.text, token, by: caller, context: signInContext, from: clientAddress, at: now)
    }
    guard body.email != nil else { throw Failure.invalid(.init("email", "or phone is required")) }
    let email = try body.address()
    let kinds: [Challenge.Kind] =
      switch body.type {
      case "email_change": [.changeEmail]
      case "recovery": [.recovery]
      case "signup": [.confirmation]
      default: [.email, .confirmation]
      }
    if kinds == [.changeEmail] {
      return try await codeSignIn.change(
        .changeEmail, email.canonical, token, by: caller, context: signInContext, from: clientAddress, at: now)
    }
    return try await codeSignIn.signIn(
      email, token, kinds: kinds, authenticatedUser: caller?.user, context: signInContext, from: clientAddress, at: now)
  }

  /// Exchanges the authorization code that a link gave to the app which asked for the link (PKCE).
  func exchange(_ body: SupabaseRequestBody, _ request: Request) async throws -> Response {
    guard let code = body.auth_code, let verifier = body.code_verifier else {
      let missing = [("auth_code", body.auth_code), ("code_verifier", body.code_verifier)].filter { $0.1 == nil }
      throw Failure.invalid(missing.map { .init($0.0, "is required") })
    }
    return try await signInCounter.counted(.mail) {
      let now = now()
      let result = try await codeSignIn.exchange(
        MailLinkToken(presented: code), verifier: verifier, context: request.signInContext(.supabase),
        from: request.clientAddress, at: now)
      return session(result, now)
    }
  }
}

extension Context {
  /// The signed-in user of a route that does not require one.
  fileprivate var signedInCaller: CodeSignIn.SignedInCaller? {
    guard case .user(let user, let session) = caller else { return nil }
    return CodeSignIn.SignedInCaller(user: user, session: session)
  }
}

extension Failure {
  static let otpExpired = Failure(.forbidden, "otp_expired", "Token has expired or is invalid")
}
