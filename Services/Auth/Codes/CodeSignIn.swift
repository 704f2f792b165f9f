import Database
import Foundation
import Messages
import Quotas
import Wire

/// Signing in with a one-time code or a mailed link, and confirming an e-mail address or a phone number with one.
struct CodeSignIn: Sendable {
  let database: any Database
  let challenges: ChallengeStore
  let quotas: QuotaStore
  let tokenIssuer: TokenPairIssuer
  let contactChange: ContactChange

  /// Looks up the challenge and marks it as used, in a transaction; nil when the code or link is not valid.
  typealias ChallengeAnswer = @Sendable (any Connection) throws -> StoredChallenge?

  /// Opens a session for the user of a phone number. Of several concurrent calls with one code, one opens a session.
  ///
  /// - Parameter name: stored when the account has none yet.
  /// - Throws: 400 `invalid_code`; 429 after too many tries from one client address.
  func signIn(
    _ number: PhoneNumber, _ typed: String, name: String?, context: SignInContext, from clientAddress: String,
    at now: Date
  ) async throws -> SignInResult {
    guard let code = OneTimeCode(typed: typed) else { throw Failure.invalidCode }
    return try await signIn(with: .init(name: name), context, from: clientAddress, at: now) { db in
      try challenges.answer([.phone], number.text, code: code, at: now, on: db)
    }
  }

  /// Opens a session for the reader of an e-mail address's mail.
  ///
  /// - Parameter authenticatedUser: the signed-in user. A confirmation applies to the account that claims the address
  ///   only when that account is theirs.
  func signIn(
    _ email: EmailAddress, _ typed: String, kinds: [Challenge.Kind], authenticatedUser: UserID?,
    context: SignInContext, from clientAddress: String, at now: Date
  ) async throws -> SignInResult {
    guard let code = OneTimeCode(typed: typed) else { throw Failure.invalidCode }
    let details = CallerDetails(authenticatedUser: authenticatedUser, codeAddress: email)
    return try await signIn(with: details, context, from: clientAddress, at: now) { db in
      try challenges.answer(kinds, email.canonical, code: code, at: now, on: db)
    }
  }

  func signIn(
    _ link: MailLinkToken, authenticatedUser: UserID?, context: SignInContext, from clientAddress: String, at now: Date
  ) async throws -> SignInResult {
    try await signIn(
      with: .init(authenticatedUser: authenticatedUser), context, from: clientAddress, at: now
    ) { db in
      try challenges.answer(link, at: now, on: db)
    }
  }

  /// The signed-in user of a route that does not require one.
  struct SignedInCaller: Sendable {
    let user: UserID
    let session: SessionID?
  }

  /// Replaces the phone number or the e-mail address of the account that asked for it, and opens a session of that
  /// account, which counts as opened when the caller's session was.
  ///
  /// - Parameter caller: the signed-in user, if any: then only their own codes are accepted.
  func change(
    _ kind: Challenge.Kind, _ subject: String, _ typed: String, by caller: SignedInCaller?, context: SignInContext,
    from clientAddress: String, at now: Date
  ) async throws -> SignInResult {
    guard let code = OneTimeCode(typed: typed) else { throw Failure.invalidCode }
    let details = CallerDetails(
      session: caller?.session, codeAddress: kind == .changeEmail ? EmailAddress(subject) : nil)
    let result = try await signIn(with: details, context, from: clientAddress, at: now) { db in
      try challenges.answer(
        [kind], subject, of: caller.map { .user($0.user) } ?? .anyAccount, code: code, at: now, on: db)
    }
    contactChange.outbox.wakeUp()
    return result
  }

  /// Assigns the address to the reader of its mail. Opens no session, as there is no client to receive one.
  ///
  /// - Throws: 400 `invalid_code`; 429 after too many tries from one client address.
  func confirm(
    _ link: MailLinkToken, authenticatedUser: UserID?, from clientAddress: String, at now: Date
  ) async throws {
    _ = try await answerChallenge(
      with: .init(authenticatedUser: authenticatedUser), from: clientAddress, at: now,
      { db in try challenges.answer(link, at: now, on: db) }
    ) { _, _, _ in true }
  }

  /// How long an authorization code that a link gave to an app can be exchanged.
  private static let exchangeLifetime: Duration = .seconds(300)

  /// Uses up a link and returns an authorization code that the app which asked for the link exchanges (PKCE). Without
  /// that app's verifier, the reader of the mail cannot use the code.
  func authorizationCode(for link: MailLinkToken, at now: Date) async throws -> MailLinkToken {
    let code = MailLinkToken.new()
    let isIssued = try await database.write { [challenges] db in
      guard let answered = try challenges.answer(link, of: Challenge.Kind.withLinkPage, at: now, on: db) else {
        return false
      }
      var content = answered.content
      content.exchanged = answered.kind
      let exchange = Challenge(
        kind: .exchange, content: content, account: answered.account, lifetime: Self.exchangeLifetime)
      try challenges.add(exchange, code: .new(), link: code, at: now, on: db)
      return true
    }
    guard isIssued else { throw Failure.invalidCode }
    return code
  }

  /// Opens a session for the app that asked for a link and presents the authorization code that the link gave.
  ///
  /// - Throws: 404 `flow_state_not_found`; 400 `bad_code_verifier`; 429 after too many tries from one client address.
  func exchange(
    _ code: MailLinkToken, verifier: String, context: SignInContext, from clientAddress: String, at now: Date
  ) async throws -> SignInResult {
    do {
      let result = try await signIn(
        with: .init(hasVerifier: true), context, from: clientAddress, at: now
      ) { db in
        try challenges.exchange(code, verifier: verifier, at: now, on: db)
      }
      contactChange.outbox.wakeUp()
      return result
    } catch let failure as Failure where failure == .invalidCode {
      let isOpen = try await database.read { [challenges] db in
        try challenges.pending(for: code, of: [.exchange], at: now, on: db) != nil
      }
      throw isOpen ? Failure.badCodeVerifier : .flowStateNotFound
    }
  }

  /// What the caller has shown besides the code.
  private struct CallerDetails: Sendable {
    /// Stored when the account has no name yet.
    var name: String?
    /// The user that the caller has authenticated as, if any.
    var authenticatedUser: UserID?
    /// Whether the caller has presented the PKCE verifier of the app that asked.
    var hasVerifier = false
    /// The caller's session, if they are signed in.
    var session: SessionID?
    /// The address that the typed code was mailed to; nil for a code sent by SMS and for links.
    var codeAddress: EmailAddress?
  }

  private func signIn(
    with details: CallerDetails, _ context: SignInContext, from clientAddress: String, at now: Date,
    _ answer: @escaping ChallengeAnswer
  ) async throws -> SignInResult {
    try await answerChallenge(with: details, from: clientAddress, at: now, answer) { [tokenIssuer] user, kind, db in
      var context = context.by(SignInMethod(kind))
      // These could be asked for with a bearer alone: answering them is no new sign-in.
      if kind == .changeEmail || kind == .changePhone { context.origin = .bearer(details.session) }
      return try SessionStore.signIn(user, tokenIssuer, context, at: now, on: db)
    }
  }

  /// - Parameter then: called in the transaction that used up the code.
  private func answerChallenge<Result: Sendable>(
    with details: CallerDetails, from clientAddress: String, at now: Date, _ answer: @escaping ChallengeAnswer,
    then: @escaping @Sendable (UserID, Challenge.Kind, any Connection) throws -> Result
  ) async throws -> Result {
    let isAllowed = try await database.write { [quotas] db in
      try quotas.take(.codePerClientAddress, for: clientAddress, at: now, on: db)
      return try details.codeAddress.map {
        try quotas.takeCodeAttempt(for: $0, from: clientAddress, at: now, on: db)
      } ?? true
    }
    guard isAllowed else { throw Failure.invalidCode }
    let result = try await AccountStore.retryingConflicts {
      try await database.write { [quotas, contactChange] db -> Result? in
        // A wrong code has been counted, which must be committed: it is no error here.
        guard let answered = try answer(db) else { return nil }
        let user =
          try contactChange.apply(answered, at: now, on: db)
          ?? Self.account(of: answered, details, at: now, on: db)
        guard let user else { return nil }
        try quotas.giveBack(.codePerClientAddress, for: clientAddress, on: db)
        if let email = details.codeAddress {
          try quotas.giveBackCodeAttempt(for: email, from: clientAddress, on: db)
        }
        return try then(user, answered.kind, db)
      }
    }
    guard let result else { throw Failure.invalidCode }
    return result
  }

  /// The account that an answered challenge signs in to; nil when it signs in to none.
  private static func account(
    of answered: StoredChallenge, _ details: CallerDetails, at now: Date, on db: any Connection
  ) throws -> UserID? {
    guard var identity = Identity(answered) else { return nil }
    identity.displayName = details.name
    if answered.kind == .confirmation, let claimingUser = answered.account {
      // An old mail opens nothing once another account has verified the address.
      let owner = try AccountStore.find(identity, on: db)?.id
      if let owner, owner != claimingUser, try !isOnlyClaimed(identity, on: db) { return nil }
      if details.hasVerifier || details.authenticatedUser == claimingUser {
        return try confirmed(identity, of: claimingUser, at: now, on: db)
      }
      // The reader of the mail need not be the user who claimed the address: that user's data stays with them.
    }
    if answered.kind == .recovery, let email = EmailAddress(identity.subject) {
      // The same as when the new password comes with the code.
      return try PasswordSignIn.recoveredAccount(forReaderOf: email, at: now, on: db).map { user in
        try AccountStore.recordSignIn(of: user, as: identity, at: now, on: db).id
      }
    }
    if let known = try AccountStore.find(identity, on: db), try !isOnlyClaimed(identity, on: db) {
      return try AccountStore.recordSignIn(of: known.id, as: identity, at: now, on: db).id
    }
    guard answered.content.createsUser else { return nil }
    // The name and metadata of the request are used only here: it may have been a stranger's.
    identity.displayName = details.name ?? answered.content.name
    let user = try AccountStore.create(taking: identity, at: now, on: db)
    if let metadata = answered.content.metadata { try AccountStore.mergeMetadata(metadata, of: user, on: db) }
    return user
  }

  private static func confirmed(
    _ identity: Identity, of claimingUser: UserID, at now: Date, on db: any Connection
  ) throws -> UserID? {
    guard try AccountStore.recordSignIn(of: claimingUser, at: now, on: db) else { return nil }
    guard let email = EmailAddress(identity.subject),
      try AccountStore.assignEmail(email, isVerified: true, to: claimingUser, at: now, on: db)
    else { throw Failure.invalidCode }
    return claimingUser
  }

  /// Whether an account has claimed the address and none has verified it: then it goes to the user who verifies it.
  private static func isOnlyClaimed(_ identity: Identity, on db: any Connection) throws -> Bool {
    try identity.issuer == Identity.emailIssuer && AccountStore.isOnlyClaimed(identity.subject, on: db)
  }
}

extension Identity {
  /// The identity that the code proves: the phone number or the e-mail address that it was sent to.
  fileprivate init?(_ answered: StoredChallenge) {
    let subject = answered.content.subject
    switch answered.kind {
    case .phone: self.init(issuer: Identity.phoneIssuer, subject: subject)
    case .email, .recovery, .confirmation:
      guard let email = EmailAddress(subject) else { return nil }
      self = .verifiedEmail(email)
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
