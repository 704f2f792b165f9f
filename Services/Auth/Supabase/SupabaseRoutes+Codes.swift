import Foundation
import Hummingbird
import Messages
import Web
import Wire

/// Codes and links: asked for, sent once more, and answered.
extension SupabaseRoutes {
  func addCodes(to door: RouterGroup<Context>) {
    door.post("otp", use: otp)
    door.post("magiclink", use: otp)
    door.post("recover", use: recover)
    door.post("resend", use: resend)
    door.post("verify", use: verify)
  }

  // MARK: Asking

  /// A code by text or by mail, with a link. The answer is the same whoever the address belongs to.
  @Sendable private func otp(_ request: Request, _ context: Context) async throws -> Response {
    let body = try await request.json(SupabaseBody.self)
    let createsUser = body.create_user ?? true
    func content(_ subject: String) throws -> Challenge.Content {
      Challenge.Content(
        subject: subject, name: try body.name(), metadata: body.data, createsUser: createsUser,
        redirect: redirect(request), codeChallenge: try body.codeChallenge())
    }
    if let number = try body.number() {
      let isKnown = try await profiles.owner(of: number) != nil
      try await sender.text(
        number, for: .phone, content: try content(number.text), sends: isKnown || createsUser, from: request.place,
        at: now())
    } else {
      guard body.email != nil else { throw Failure.invalid(.init("email", "or phone is required")) }
      let email = try body.address()
      let isKnown = try await profiles.owner(of: email) != nil
      let claim = try await confirmation(of: email)
      if !createsUser, let claim, claim.account == context.bearer?.user {
        var content = claim.content
        (content.redirect, content.codeChallenge) = (redirect(request), try body.codeChallenge())
        try await sender.mail(
          email, for: .confirmation, content: content, account: claim.account, from: request.place, at: now())
        return Self.sent
      }
      // A code for an address that is only claimed could make an account, and nothing else.
      try await sender.mail(
        email, for: .email, content: try content(email.canonical), sends: createsUser || isKnown && claim == nil,
        from: request.place, at: now())
    }
    return Self.sent
  }

  @Sendable private func recover(_ request: Request, _ context: Context) async throws -> Response {
    let body = try await request.json(SupabaseBody.self)
    let email = try body.address()
    let content = Challenge.Content(
      subject: email.canonical, redirect: redirect(request), codeChallenge: try body.codeChallenge())
    let isKnown = try await profiles.owner(of: email) != nil
    try await sender.mail(
      email, for: .recovery, content: content, sends: isKnown, from: request.place, at: now())
    return .json([String: String]())
  }

  /// The same code door once more, for what is still waited for. The answer is the same when nothing is.
  @Sendable private func resend(_ request: Request, _ context: Context) async throws -> Response {
    let body = try await request.json(SupabaseBody.self)
    let now = now()
    switch body.type {
    case "signup", "email_change":
      let email = try body.address()
      var again = try await body.type == "signup" ? confirmation(of: email) : change(to: email, at: now)
      again?.content.redirect = redirect(request)
      let codeChallenge = try body.codeChallenge()
      // A link that leads back to the app which shows the verifier asks for no password: that app must be the claimer's.
      if body.type != "signup" || again?.account == context.bearer?.user {
        again?.content.codeChallenge = codeChallenge
      }
      let content = again?.content ?? .init(subject: email.canonical)
      try await sender.mail(
        again?.address ?? email, for: body.type == "signup" ? .confirmation : .changeEmail, content: content,
        account: again?.account, sends: again != nil, from: request.place, at: now)
    case "sms", "phone_change":
      guard let number = try body.number() else { throw Failure.invalid(.init("phone", "is required")) }
      let kind = body.type == "sms" ? Challenge.Kind.phone : .changePhone
      let waiting = try await codes.database.read { [codes] db in
        try codes.challenges.waiting(kind, number.text, at: now, on: db)
      }
      try await sender.text(
        number, for: kind, content: waiting?.content ?? .init(subject: number.text), account: waiting?.account,
        sends: waiting != nil, from: request.place, at: now)
    default: throw Failure.invalid(.init("type", "must be signup, email_change, sms or phone_change"))
    }
    return Self.sent
  }

  private typealias Again = (address: EmailAddress, content: Challenge.Content, account: UserID)

  /// nil unless an account claims the address and has not confirmed it.
  private func confirmation(of email: EmailAddress) async throws -> Again? {
    try await codes.database.read { db in
      guard try AccountStore.isOnlyClaimed(email.canonical, on: db),
        let claimer = try AccountStore.owner(ofEmail: email.canonical, on: db)
      else { return nil }
      return (email, .init(subject: email.canonical), claimer)
    }
  }

  private func change(to email: EmailAddress, at now: Date) async throws -> Again? {
    try await codes.database.read { db in
      guard let waiting = try NewEmail.waiting(email, at: now, on: db), let address = EmailAddress(waiting.address)
      else { return nil }
      return (address, .init(subject: address.canonical), waiting.user)
    }
  }

  private static var sent: Response { .json(["message_id": String?.none]) }

  // MARK: Answering

  @Sendable private func verify(_ request: Request, _ context: Context) async throws -> Response {
    if request.isForm {
      return try await signIns.countingFailures(of: .mail) {
        let page = try await LinkPage(codes: codes, passwords: passwords, links: sender.links, now: now)
          .consume(request)
        signIns.count(.mail, page.status.code >= 400 ? .refused : .done)
        return page
      }
    }
    let body = try await request.json(SupabaseBody.self)
    let isText = body.type == "sms" || body.phone != nil
    return try await signIns.counted(isText ? .phone : .mail) {
      let now = now()
      do { return session(try await answered(body, request, context.bearer, at: now), now) } catch let failure
        as Failure
        where failure == .invalidCode
      {
        throw Failure.otpExpired
      }
    }
  }

  private func answered(
    _ body: SupabaseBody, _ request: Request, _ bearer: CodeDoor.Bearer?, at now: Date
  ) async throws -> PasswordDoor.Entered {
    let (visit, place) = (request.visit(.supabase), request.place)
    if let hash = body.token_hash {
      return try await codes.signIn(
        LinkToken(presented: hash), claimant: bearer?.user, visit: visit, from: place, at: now)
    }
    guard let token = body.token else { throw Failure.invalid(.init("token", "is required")) }
    if body.type == "phone_change" || body.type != "email_change" && body.phone != nil {
      guard let number = try body.number() else { throw Failure.invalid(.init("phone", "is required")) }
      guard body.type == "phone_change" else {
        return try await codes.signIn(number, token, name: nil, visit: visit, from: place, at: now)
      }
      return try await codes.change(.changePhone, number.text, token, by: bearer, visit: visit, from: place, at: now)
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
      return try await codes.change(
        .changeEmail, email.canonical, token, by: bearer, visit: visit, from: place, at: now)
    }
    return try await codes.signIn(
      email, token, kinds: kinds, claimant: bearer?.user, visit: visit, from: place, at: now)
  }

  /// The code that a link has given to the app which asked for the link (PKCE).
  func exchange(_ body: SupabaseBody, _ request: Request) async throws -> Response {
    guard let code = body.auth_code, let verifier = body.code_verifier else {
      let missing = [("auth_code", body.auth_code), ("code_verifier", body.code_verifier)].filter { $0.1 == nil }
      throw Failure.invalid(missing.map { .init($0.0, "is required") })
    }
    return try await signIns.counted(.mail) {
      let now = now()
      let entered = try await codes.exchange(
        LinkToken(presented: code), verifier: verifier, visit: request.visit(.supabase), from: request.place, at: now)
      return session(entered, now)
    }
  }
}

extension Context {
  /// Whoever is signed in, where that is not asked for.
  fileprivate var bearer: CodeDoor.Bearer? {
    guard case .user(let user, let session) = caller else { return nil }
    return CodeDoor.Bearer(user: user, session: session)
  }
}

extension Failure {
  static let otpExpired = Failure(.forbidden, "otp_expired", "Token has expired or is invalid")
}
