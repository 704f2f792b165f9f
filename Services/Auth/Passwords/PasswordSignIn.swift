import Database
import Foundation
import Wire

/// Signing up, signing in and changing passwords, independent of the API that the app uses.
struct PasswordSignIn: Sendable {
  let database: any Database
  let store: PasswordStore
  let hasher: PasswordHasher
  let codeSender: CodeSender
  let tokenIssuer: TokenPairIssuer

  /// What is needed to create an account with a password.
  struct NewAccount: Sendable {
    let email: EmailAddress
    let password: String
    var name: String?
    var timeZone: String?
    var metadata: JSONValue?
    /// Where the link that confirms the address redirects to.
    var redirect: String?
    /// The code challenge of the app that the link is for.
    var codeChallenge: PKCECodeChallenge?
  }

  /// Creates an account. It claims the address until a mail has verified it.
  ///
  /// - Throws: 422 `email_taken`; the validation failure for a password that is not accepted; 503 when too many
  ///   passwords are being hashed.
  func signUp(
    _ newAccount: NewAccount, context: SignInContext, from clientAddress: String, at now: Date
  ) async throws -> SignInResult {
    // Hashed first, so that an address that is taken needs the same time.
    let hash = try await hasher.hash(newAccount.password)
    let result = try await create { [tokenIssuer, codeSender] db in
      let user = try AccountStore.create(.claimed(newAccount), signsIn: true, at: now, on: db).id
      _ = try PasswordStore.set(hash, of: user, at: now, on: db)
      if let zone = newAccount.timeZone { try db.change("update account set time_zone = \(zone) where id = \(user)") }
      if let metadata = newAccount.metadata { try AccountStore.mergeMetadata(metadata, of: user, on: db) }
      do {
        try codeSender.sendMail(
          newAccount.email, for: .confirmation, content: newAccount.confirmation, account: user, from: clientAddress,
          at: now, on: db)
      } catch let failure as Failure where failure.kind == .limited {
        // The account is created without the mail; the address can be confirmed later.
      }
      return try SessionStore.signIn(user, tokenIssuer, context, at: now, on: db)
    }
    codeSender.outbox.wakeUp()
    return result
  }

  private func create(
    _ body: @escaping @Sendable (any Connection) throws -> SignInResult
  ) async throws -> SignInResult {
    do { return try await database.write(body) } catch DatabaseFailure.unique("identity_issuer_subject") {
      throw Failure.emailTaken
    }
  }

  /// - Throws: 401 `invalid_credentials`, with the same response time whether or not the account exists; 429.
  func signIn(
    _ email: EmailAddress?, _ password: String, context: SignInContext, from clientAddress: String, at now: Date
  ) async throws -> SignInResult {
    guard let email else {
      try await hasher.compareDummy()
      throw Failure.invalidCredentials
    }
    try await store.takeAttempt(email, from: clientAddress, at: now)
    let stored = try await store.storedPassword(for: email)
    guard try await hasher.matches(password, stored?.hash), let stored else { throw Failure.invalidCredentials }
    let renewed = hasher.needsRehash(stored.hash) ? try? await hasher.hash(password) : nil
    return try await database.write { [store, tokenIssuer] db in
      // A concurrent change of the password ends the sessions of the old one: it must not open another.
      guard try PasswordStore.rehash(renewed ?? stored.hash, of: stored.user, checked: stored.hash, on: db) else {
        throw Failure.invalidCredentials
      }
      try store.giveBackAttempt(email, from: clientAddress, on: db)
      guard try AccountStore.recordSignIn(of: stored.user, at: now, on: db) else { throw Failure.invalidCredentials }
      return try SessionStore.signIn(stored.user, tokenIssuer, context, at: now, on: db)
    }
  }

  /// Requires the password before an irreversible change. Accounts without a password pass.
  ///
  /// - Throws: 422 `invalid_password` when it is missing or wrong; 429 after too many tries.
  func requirePassword(_ typed: String?, of user: UserID, from clientAddress: String, at now: Date) async throws {
    guard let stored = try await store.storedPassword(of: user) else { return }
    guard let typed else { throw Failure.invalidPassword }
    try await store.takeAttempt(of: user, from: clientAddress, at: now)
    guard try await hasher.matches(typed, stored.hash) else { throw Failure.invalidPassword }
    try await store.giveBackAttempt(of: user, from: clientAddress)
  }

  /// Changes the password, or sets the first one. Ends all other sessions.
  ///
  /// - Parameter current: nil when the account has no password yet.
  /// - Throws: 422 naming `current_password` when it is wrong, 429 after too many tries; the validation failure for a
  ///   new password that is not accepted.
  func change(
    of user: UserID, from current: String?, to new: String, keeping session: SessionID?, from clientAddress: String,
    at now: Date
  ) async throws -> [EndedSession] {
    let stored = try await store.storedPassword(of: user)
    if let stored, let current {
      try await store.takeAttempt(of: user, from: clientAddress, at: now)
      guard try await hasher.matches(current, stored.hash) else {
        throw Failure.invalid(.init("current_password", "is not right"))
      }
      try await store.giveBackAttempt(of: user, from: clientAddress)
    }
    let newPassword = NewPassword(hash: try await hasher.hash(new), old: stored?.hash)
    return try await database.write { db in try newPassword.set(of: user, keeping: session, at: now, on: db) }
  }

  /// A hashed new password of a signed-in user, to be set in place of the current one.
  struct NewPassword: Sendable {
    fileprivate let hash: String
    fileprivate let old: String?

    /// - Throws: 401 when the account is not active; 422 when the password was changed meanwhile.
    fileprivate func set(
      of user: UserID, keeping session: SessionID?, at now: Date, on db: any Connection
    ) throws -> [EndedSession] {
      guard try AccountStore.lockActive(user, on: db) else { throw Failure.sessionEnded }
      guard try PasswordStore.set(hash, of: user, expecting: old, at: now, on: db) else {
        throw Failure.invalid(.init("current_password", "is not right"))
      }
      return try SessionStore.endAll(of: user, except: session, reason: .passwordChanged, at: now, on: db)
    }
  }

  /// Checks and hashes a new password. Counts as a try until it is set: otherwise a caller with a bearer alone could
  /// guess the current password from the 422.
  ///
  /// - Throws: the validation failure for a password that is not accepted, 422 `same_password` for the current one;
  ///   429; 503 when too many are being hashed.
  func newPassword(
    _ new: String, by user: UserID, from clientAddress: String, at now: Date
  ) async throws -> NewPassword {
    let hash = try await hasher.hash(new)
    guard let old = try await store.storedPassword(of: user)?.hash else { return NewPassword(hash: hash, old: nil) }
    try await store.takeAttempt(of: user, from: clientAddress, at: now)
    guard try await !hasher.matches(new, old) else { throw Failure.samePassword }
    return NewPassword(hash: hash, old: old)
  }

  /// Sets a new password and gives back the try that it was counted as.
  func set(
    _ newPassword: NewPassword, of user: UserID, keeping session: SessionID?, from clientAddress: String, at now: Date,
    on db: any Connection
  ) throws -> [EndedSession] {
    let ended = try newPassword.set(of: user, keeping: session, at: now, on: db)
    if newPassword.old != nil { try store.giveBackAttempt(of: user, from: clientAddress, on: db) }
    return ended
  }

  /// Whether `typed` is the password of an account; does the same work when the account has none.
  func isPassword(_ typed: String, of user: UserID) async throws -> Bool {
    let stored = try await store.storedPassword(of: user)
    return try await hasher.matches(typed, stored?.hash)
  }

  /// Sets a new password with a mailed code or link. Ends every session, and records the client address as known.
  ///
  /// - Parameter codeAddress: the address that the typed code was mailed to; nil for a link.
  func reset(
    by answer: @escaping CodeSignIn.ChallengeAnswer, codeAddress: EmailAddress? = nil, to new: String,
    from clientAddress: String, at now: Date
  ) async throws -> [EndedSession] {
    let hash = try await hasher.hash(new)
    let isAllowed = try await database.write { [store] db in
      try codeAddress.map { try store.quotas.takeCodeAttempt(for: $0, from: clientAddress, at: now, on: db) } ?? true
    }
    guard isAllowed else { throw Failure.invalidCode }
    let ended = try await AccountStore.retryingConflicts {
      try await database.write { [tokenIssuer, store] db -> [EndedSession]? in
        guard let answered = try answer(db), answered.kind == .recovery,
          let email = EmailAddress(answered.content.subject),
          let user = try Self.account(forReaderOf: email, at: now, on: db)
        else { return nil }
        _ = try PasswordStore.set(hash, of: user, at: now, on: db)
        if let codeAddress { try store.quotas.giveBackCodeAttempt(for: codeAddress, from: clientAddress, on: db) }
        try tokenIssuer.knownAddresses.record(clientAddress, of: user, at: now, on: db)
        return try SessionStore.endAll(of: user, reason: .passwordChanged, at: now, on: db)
      }
    }
    guard let ended else { throw Failure.invalidCode }
    return ended
  }

  /// The account that the reader of an address's mail gets access to. An account that only claims the address becomes
  /// the reader's if it has no other identity; otherwise the reader gets a new account with the address. nil when no
  /// account has the address.
  private static func account(
    forReaderOf email: EmailAddress, at now: Date, on db: any Connection
  ) throws -> UserID? {
    guard let owner = try AccountStore.owner(ofEmail: email.canonical, on: db) else { return nil }
    // Locked, so that no other identity is added meanwhile.
    guard try AccountStore.lockUnlessErased(owner, on: db) else { throw AccountErased() }
    if try AccountStore.isOnlyClaimed(email.canonical, on: db),
      try AccountStore.hasOtherIdentities(owner, than: email.canonical, on: db)
    {
      return try AccountStore.create(taking: .verifiedEmail(email), at: now, on: db)
    }
    // The address was taken from the account a moment ago: the retry finds its new owner.
    guard try AccountStore.assignEmail(email, isVerified: true, to: owner, at: now, on: db) else {
      throw AccountErased()
    }
    return owner
  }

  /// The same for a sign-in by a recovery mail, before a password is set. An account that only claimed the address
  /// loses its password and its sessions.
  static func recoveredAccount(
    forReaderOf email: EmailAddress, at now: Date, on db: any Connection
  ) throws -> UserID? {
    let wasOnlyClaimed = try AccountStore.isOnlyClaimed(email.canonical, on: db)
    guard let user = try account(forReaderOf: email, at: now, on: db) else { return nil }
    guard wasOnlyClaimed else {
      try ChallengeStore.revokeAll(of: user, at: now, on: db)
      return user
    }
    try db.change("delete from password where account_id = \(user)")
    _ = try SessionStore.endAll(of: user, reason: .passwordChanged, at: now, on: db)
    return user
  }
}

extension PasswordSignIn.NewAccount {
  fileprivate var confirmation: Challenge.Content {
    Challenge.Content(subject: email.canonical, redirect: redirect, codeChallenge: codeChallenge)
  }
}

extension Identity {
  fileprivate static func claimed(_ newAccount: PasswordSignIn.NewAccount) -> Identity {
    Identity(
      issuer: emailIssuer, subject: newAccount.email.canonical, email: newAccount.email.text,
      displayName: newAccount.name)
  }
}

extension Failure {
  static let samePassword = Failure(
    .unprocessable, "same_password", "New password should be different from the old password.")
  static let invalidCredentials = Failure(
    .unauthorized, "invalid_credentials", "E-mail address or password is not right.")
  static let invalidPassword = {
    var failure = Failure(.unprocessable, "invalid_password", "The password is missing or not right.")
    failure.fields = [.init("password", "is missing or not right")]
    return failure
  }()
  static let emailTaken = Failure(.unprocessable, "email_taken", "This e-mail address has an account already.")
}
