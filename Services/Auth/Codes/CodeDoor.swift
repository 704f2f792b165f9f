import Database
import Foundation
import Messages
import Quotas
import Wire

/// Signing in with a code or a link, and showing that an address or a number is one's own.
struct CodeDoor: Sendable {
  let database: any Database
  let challenges: ChallengeStore
  let quotas: QuotaStore
  let mint: Mint
  let changes: AddressChanges

  /// What somebody brings to be let in by, in a transaction: nil for what is not good.
  typealias Answer = @Sendable (any Connection) throws -> Answered?

  /// Opens a session for whoever has the number. One code, many at once: one session.
  ///
  /// - Parameter name: kept when the account has none yet.
  /// - Throws: 400 `invalid_code`; 429 for too many tries from one place.
  func signIn(
    _ number: PhoneNumber, _ typed: String, name: String?, visit: Visit, from place: String, at now: Date
  ) async throws -> PasswordDoor.Entered {
    guard let code = OneTimeCode(typed: typed) else { throw Failure.invalidCode }
    return try await entered(.init(name: name), visit, from: place, at: now) { db in
      try challenges.answer([.phone], number.text, code: code, at: now, on: db)
    }
  }

  /// Opens a session for whoever reads the address's mail.
  ///
  /// - Parameter claimant: who is signed in: a confirmation is for the account that claims the address only then.
  func signIn(
    _ email: EmailAddress, _ typed: String, kinds: [Challenge.Kind], claimant: UserID?, visit: Visit,
    from place: String, at now: Date
  ) async throws -> PasswordDoor.Entered {
    guard let code = OneTimeCode(typed: typed) else { throw Failure.invalidCode }
    return try await entered(.init(claimant: claimant, typedFor: email), visit, from: place, at: now) { db in
      try challenges.answer(kinds, email.canonical, code: code, at: now, on: db)
    }
  }

  func signIn(
    _ link: LinkToken, claimant: UserID?, visit: Visit, from place: String, at now: Date
  ) async throws -> PasswordDoor.Entered {
    try await entered(.init(claimant: claimant), visit, from: place, at: now) { db in
      try challenges.answer(link, at: now, on: db)
    }
  }

  /// Whoever is signed in where nobody has to be.
  struct Bearer: Sendable {
    let user: UserID
    let session: SessionID?
  }

  /// Replaces the number or the address of the account that has asked for it, and opens a session of its, which is as old
  /// as the bearer's.
  ///
  /// - Parameter bearer: who is signed in, if anybody: their own codes only are good then.
  func change(
    _ kind: Challenge.Kind, _ subject: String, _ typed: String, by bearer: Bearer?, visit: Visit, from place: String,
    at now: Date
  ) async throws -> PasswordDoor.Entered {
    guard let code = OneTimeCode(typed: typed) else { throw Failure.invalidCode }
    let answerer = Answerer(
      session: bearer?.session, typedFor: kind == .changeEmail ? EmailAddress(subject) : nil)
    let entered = try await entered(answerer, visit, from: place, at: now) { db in
      try challenges.answer(
        [kind], subject, of: bearer.map { .user($0.user) } ?? .anybody, code: code, at: now, on: db)
    }
    changes.outbox.ring()
    return entered
  }

  /// Makes the address that of whoever reads its mail. Opens no session: nobody would receive it.
  ///
  /// - Throws: 400 `invalid_code`; 429 for too many tries from one place.
  func confirm(_ link: LinkToken, claimant: UserID?, from place: String, at now: Date) async throws {
    _ = try await answered(
      .init(claimant: claimant), from: place, at: now, { db in try challenges.answer(link, at: now, on: db) }
    ) { _, _, _ in true }
  }

  /// How long the code that a link gives to an app can be exchanged.
  private static let exchangeLifetime: Duration = .seconds(300)

  /// Uses a link up, for a code that the app which has asked for it exchanges (PKCE). Whoever reads the mail and is not
  /// that app can do nothing with it.
  func code(for link: LinkToken, at now: Date) async throws -> LinkToken {
    let code = LinkToken.new()
    let isGiven = try await database.write { [challenges] db in
      guard let answered = try challenges.answer(link, of: Challenge.Kind.paged, at: now, on: db) else { return false }
      var content = answered.content
      content.exchanged = answered.kind
      let exchange = Challenge(
        kind: .exchange, content: content, account: answered.account, lifetime: Self.exchangeLifetime)
      try challenges.add(exchange, code: .new(), link: code, at: now, on: db)
      return true
    }
    guard isGiven else { throw Failure.invalidCode }
    return code
  }

  /// Opens a session for the app that has asked for a link, and brings the code that the link gave.
  ///
  /// - Throws: 404 `flow_state_not_found`; 400 `bad_code_verifier`; 429 for too many tries from one place.
  func exchange(
    _ code: LinkToken, verifier: String, visit: Visit, from place: String, at now: Date
  ) async throws -> PasswordDoor.Entered {
    do {
      let entered = try await entered(.init(hasVerifier: true), visit, from: place, at: now) { db in
        try challenges.exchange(code, verifier: verifier, at: now, on: db)
      }
      changes.outbox.ring()
      return entered
    } catch let failure as Failure where failure == .invalidCode {
      let isOpen = try await database.read { [challenges] db in
        try challenges.waiting(behind: code, of: [.exchange], at: now, on: db) != nil
      }
      throw isOpen ? Failure.badCodeVerifier : .flowStateNotFound
    }
  }

  /// What is known of whoever answers besides the code.
  private struct Answerer: Sendable {
    /// Kept when the account has none yet.
    var name: String?
    /// The account that they have shown to be theirs, if any.
    var claimant: UserID?
    /// They have shown that they are the app that asked.
    var hasVerifier = false
    /// The session that they are signed in to, if any.
    var session: SessionID?
    /// The address whose code they have typed; nil for a text's code and for links.
    var typedFor: EmailAddress?
  }

  private func entered(
    _ answerer: Answerer, _ visit: Visit, from place: String, at now: Date, _ answer: @escaping Answer
  ) async throws -> PasswordDoor.Entered {
    try await answered(answerer, from: place, at: now, answer) { [mint] user, kind, db in
      var opening = visit.by(SignInMethod(kind))
      // A bearer was enough to ask for these: answering them is no sign-in.
      if kind == .changeEmail || kind == .changePhone { opening.origin = .bearer(answerer.session) }
      return try PasswordDoor.entered(user, mint, opening, at: now, on: db)
    }
  }

  /// - Parameter then: in the transaction that used the code up.
  private func answered<Result: Sendable>(
    _ answerer: Answerer, from place: String, at now: Date, _ answer: @escaping Answer,
    then: @escaping @Sendable (UserID, Challenge.Kind, any Connection) throws -> Result
  ) async throws -> Result {
    let isLookedAt = try await database.write { [quotas] db in
      try quotas.take(.codeTriesFromHere, for: place, at: now, on: db)
      return try answerer.typedFor.map { try quotas.countCode(for: $0, from: place, at: now, on: db) } ?? true
    }
    guard isLookedAt else { throw Failure.invalidCode }
    let result = try await AccountStore.again {
      try await database.write { [quotas, changes] db -> Result? in
        // A wrong code has been counted: that is to stay, so it is no error here.
        guard let answered = try answer(db) else { return nil }
        let user = try changes.make(answered, at: now, on: db) ?? Self.account(of: answered, answerer, at: now, on: db)
        guard let user else { return nil }
        try quotas.giveBack(.codeTriesFromHere, for: place, on: db)
        if let email = answerer.typedFor { try quotas.forgiveCode(for: email, from: place, on: db) }
        return try then(user, answered.kind, db)
      }
    }
    guard let result else { throw Failure.invalidCode }
    return result
  }

  /// Whose account it is that an answer opens; nil when it opens none.
  private static func account(
    of answered: Answered, _ answerer: Answerer, at now: Date, on db: any Connection
  ) throws -> UserID? {
    guard var identity = Identity(answered) else { return nil }
    identity.displayName = answerer.name
    if answered.kind == .confirmation, let claimer = answered.account {
      // An old mail opens nothing that somebody has verified since.
      let owner = try AccountStore.find(identity, on: db)?.id
      if let owner, owner != claimer, try !isOnlyClaimed(identity, on: db) { return nil }
      if answerer.hasVerifier || answerer.claimant == claimer {
        return try confirmed(identity, of: claimer, at: now, on: db)
      }
      // Whoever reads the mail need not be who has claimed the address: what is the claimer's stays with them.
    }
    if answered.kind == .recovery, let email = EmailAddress(identity.subject) {
      // As when the mail brings the new password along.
      return try PasswordDoor.recovered(reading: email, at: now, on: db).map { user in
        try AccountStore.signedIn(user, as: identity, at: now, on: db).id
      }
    }
    if let known = try AccountStore.find(identity, on: db), try !isOnlyClaimed(identity, on: db) {
      return try AccountStore.signedIn(known.id, as: identity, at: now, on: db).id
    }
    guard answered.content.createsUser else { return nil }
    // What was said by whoever asked counts only here: it may have been a stranger.
    identity.displayName = answerer.name ?? answered.content.name
    let user = try AccountStore.create(taking: identity, at: now, on: db)
    if let metadata = answered.content.metadata { try AccountStore.keep(metadata, of: user, on: db) }
    return user
  }

  private static func confirmed(
    _ identity: Identity, of claimer: UserID, at now: Date, on db: any Connection
  ) throws -> UserID? {
    guard try AccountStore.enter(claimer, at: now, on: db) else { return nil }
    guard let email = EmailAddress(identity.subject),
      try AccountStore.own(email, isVerified: true, by: claimer, at: now, on: db)
    else { throw Failure.invalidCode }
    return claimer
  }

  /// An address that an account has only claimed goes to whoever verifies it.
  private static func isOnlyClaimed(_ identity: Identity, on db: any Connection) throws -> Bool {
    try identity.issuer == Identity.emailIssuer && AccountStore.isOnlyClaimed(identity.subject, on: db)
  }
}

extension Identity {
  /// Whoever has the number or reads the mail that the code went to.
  fileprivate init?(_ answered: Answered) {
    let subject = answered.content.subject
    switch answered.kind {
    case .phone: self.init(issuer: Identity.phoneIssuer, subject: subject)
    case .email, .recovery, .confirmation:
      guard let email = EmailAddress(subject) else { return nil }
      self = .reader(of: email)
    case .addPhone, .addEmail, .changePhone, .changeEmail, .reauthentication, .exchange: return nil
    }
  }
}

extension SignInMethod {
  fileprivate init(_ kind: Challenge.Kind) {
    switch kind {
    case .confirmation: self = .emailSignUp
    case .recovery: self = .recovery
    case .changeEmail: self = .emailChange
    default: self = .otp
    }
  }
}

extension Failure {
  static let flowStateNotFound = Failure(
    .notFound, "flow_state_not_found", "This code was used, has expired, or was never given. Ask for a new link.")
  static let badCodeVerifier = Failure(
    .malformed, "bad_code_verifier", "code challenge does not match previously saved code verifier")
}
