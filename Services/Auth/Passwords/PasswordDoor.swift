import Database
import Foundation
import Wire

/// Signing up, signing in and changing passwords, whatever the words of the app that asks.
struct PasswordDoor: Sendable {
  let database: any Database
  let store: PasswordStore
  let passwords: Passwords
  let codes: CodeSender
  let mint: Mint

  /// Somebody who wants a new account.
  struct Newcomer: Sendable {
    let email: EmailAddress
    let password: String
    var name: String?
    var timeZone: String?
    var metadata: JSONValue?
    /// Where the link to confirm the address leads, and for which app.
    var redirect: String?
    var codeChallenge: CodeChallenge?
  }

  typealias Entered = (profile: Profile, pair: TokenPair)

  /// A new account with an address that it claims until a mail has verified it.
  ///
  /// - Throws: 422 `email_taken`; the validation failure for a password that will not do; 503 when too many are hashed.
  func signUp(_ newcomer: Newcomer, visit: Visit, from place: String, at now: Date) async throws -> Entered {
    // First of all, so that it takes the same time for an address that is taken.
    let hash = try await passwords.hash(newcomer.password)
    let entered = try await created { [mint, codes] db in
      let user = try AccountStore.create(.claimed(newcomer), signsIn: true, at: now, on: db).id
      _ = try PasswordStore.set(hash, of: user, at: now, on: db)
      if let zone = newcomer.timeZone { try db.change("update account set time_zone = \(zone) where id = \(user)") }
      if let metadata = newcomer.metadata { try AccountStore.keep(metadata, of: user, on: db) }
      do {
        try codes.mail(
          newcomer.email, for: .confirmation, content: newcomer.confirmation, account: user, from: place, at: now,
          on: db)
      } catch let failure as Failure where failure.kind == .limited {
        // The account is made all the same; the address can be confirmed later.
      }
      return try Self.entered(user, mint, visit, at: now, on: db)
    }
    codes.outbox.ring()
    return entered
  }

  private func created(_ body: @escaping @Sendable (any Connection) throws -> Entered) async throws -> Entered {
    do { return try await database.write(body) } catch DatabaseFailure.unique("identity_issuer_subject") {
      throw Failure.emailTaken
    }
  }

  /// - Throws: 401 `invalid_credentials`, the same in the same time whether or not there is such an account; 429.
  func signIn(
    _ email: EmailAddress?, _ password: String, visit: Visit, from place: String, at now: Date
  ) async throws -> Entered {
    guard let email else {
      try await passwords.burn()
      throw Failure.invalidCredentials
    }
    try await store.countTry(email, from: place, at: now)
    let stored = try await store.stored(for: email)
    guard try await passwords.matches(password, stored?.hash), let stored else { throw Failure.invalidCredentials }
    let renewed = passwords.needsRehash(stored.hash) ? try? await passwords.hash(password) : nil
    return try await database.write { [store, mint] db in
      // Whoever changes the password at this moment ends the sessions that the old one opened.
      guard try PasswordStore.rehash(renewed ?? stored.hash, of: stored.user, checked: stored.hash, on: db) else {
        throw Failure.invalidCredentials
      }
      try store.forgiveTry(email, from: place, on: db)
      guard try AccountStore.enter(stored.user, at: now, on: db) else { throw Failure.invalidCredentials }
      return try Self.entered(stored.user, mint, visit, at: now, on: db)
    }
  }

  /// Asks for the password before something that cannot be taken back. Accounts without one are asked for nothing.
  ///
  /// - Throws: 422 `invalid_password` when it is missing or wrong; 429 after too many tries.
  func confirm(_ typed: String?, of user: UserID, from place: String, at now: Date) async throws {
    guard let stored = try await store.stored(of: user) else { return }
    guard let typed else { throw Failure.invalidPassword }
    try await store.countTry(of: user, from: place, at: now)
    guard try await passwords.matches(typed, stored.hash) else { throw Failure.invalidPassword }
    try await store.forgiveTry(of: user, from: place)
  }

  /// Changes a password that is known, or sets the first one. All other sessions end.
  ///
  /// - Parameter current: nil for who has none yet.
  /// - Throws: 422 naming `current_password` when it is wrong, 429 after too many tries; the validation failure for a new
  ///   one that will not do.
  func change(
    of user: UserID, from current: String?, to new: String, keeping session: SessionID?, from place: String,
    at now: Date
  ) async throws -> [EndedSession] {
    let stored = try await store.stored(of: user)
    if let stored, let current {
      try await store.countTry(of: user, from: place, at: now)
      guard try await passwords.matches(current, stored.hash) else {
        throw Failure.invalid(.init("current_password", "is not right"))
      }
      try await store.forgiveTry(of: user, from: place)
    }
    let chosen = Chosen(hash: try await passwords.hash(new), old: stored?.hash)
    return try await database.write { db in try chosen.set(of: user, keeping: session, at: now, on: db) }
  }

  /// A password that somebody signed in has chosen, to be set in place of the one that they have now.
  struct Chosen: Sendable {
    fileprivate let hash: String
    fileprivate let old: String?

    /// - Throws: 401 when the account is not active; 422 when the password was changed meanwhile.
    fileprivate func set(
      of user: UserID, keeping session: SessionID?, at now: Date, on db: any Connection
    ) throws -> [EndedSession] {
      guard try AccountStore.hold(user, on: db) else { throw Failure.sessionEnded }
      guard try PasswordStore.set(hash, of: user, expecting: old, at: now, on: db) else {
        throw Failure.invalid(.init("current_password", "is not right"))
      }
      return try SessionStore.endAll(of: user, but: session, because: .passwordChanged, at: now, on: db)
    }
  }

  /// Counts as a try until it is set: whoever has only a bearer would guess the password by what is refused.
  ///
  /// - Throws: the validation failure for one that will not do, 422 `same_password` for the one that they have; 429; 503
  ///   when too many are hashed.
  func chosen(_ new: String, by user: UserID, from place: String, at now: Date) async throws -> Chosen {
    let hash = try await passwords.hash(new)
    guard let old = try await store.stored(of: user)?.hash else { return Chosen(hash: hash, old: nil) }
    try await store.countTry(of: user, from: place, at: now)
    guard try await !passwords.matches(new, old) else { throw Failure.samePassword }
    return Chosen(hash: hash, old: old)
  }

  /// Sets what was chosen: the try that it was does not count any more.
  func set(
    _ chosen: Chosen, of user: UserID, keeping session: SessionID?, from place: String, at now: Date,
    on db: any Connection
  ) throws -> [EndedSession] {
    let ended = try chosen.set(of: user, keeping: session, at: now, on: db)
    if chosen.old != nil { try store.forgiveTry(of: user, from: place, on: db) }
    return ended
  }

  /// Whether what somebody typed is the password of an account; the same work when the account has none.
  func isPassword(_ typed: String, of user: UserID) async throws -> Bool {
    let stored = try await store.stored(of: user)
    return try await passwords.matches(typed, stored?.hash)
  }

  /// Sets a new password by a code or a link that a mail brought. Every session ends, and the place is known.
  ///
  /// - Parameter typed: whose code was typed; nil for a link.
  func reset(
    by answer: @escaping @Sendable (any Connection) throws -> Answered?, typedFor typed: EmailAddress? = nil,
    to new: String, from place: String, at now: Date
  ) async throws -> [EndedSession] {
    let hash = try await passwords.hash(new)
    let isLookedAt = try await database.write { [store] db in
      try typed.map { try store.quotas.countCode(for: $0, from: place, at: now, on: db) } ?? true
    }
    guard isLookedAt else { throw Failure.invalidCode }
    let ended = try await AccountStore.again {
      try await database.write { [mint, store] db -> [EndedSession]? in
        guard let answered = try answer(db), answered.kind == .recovery,
          let email = EmailAddress(answered.content.subject), let user = try Self.owner(reading: email, at: now, on: db)
        else { return nil }
        _ = try PasswordStore.set(hash, of: user, at: now, on: db)
        if let typed { try store.quotas.forgiveCode(for: typed, from: place, on: db) }
        try mint.places.note(place, of: user, at: now, on: db)
        return try SessionStore.endAll(of: user, because: .passwordChanged, at: now, on: db)
      }
    }
    guard let ended else { throw Failure.invalidCode }
    return ended
  }

  /// Whose account it is that whoever reads the mail of an address comes into. One that has only claimed the address
  /// becomes theirs if nobody can come back to it in another way; else the address leaves it. nil when it is nobody's.
  private static func owner(reading email: EmailAddress, at now: Date, on db: any Connection) throws -> UserID? {
    guard let owner = try AccountStore.owner(ofEmail: email.canonical, on: db) else { return nil }
    // The lock: no other way in is added meanwhile.
    guard try AccountStore.holdUnlessErased(owner, on: db) else { throw Erased() }
    if try AccountStore.isOnlyClaimed(email.canonical, on: db),
      try AccountStore.hasOtherWays(owner, than: email.canonical, on: db)
    {
      return try AccountStore.create(taking: .reader(of: email), at: now, on: db)
    }
    // Taken from it a moment ago: whoever looks again finds whose it is.
    guard try AccountStore.own(email, isVerified: true, by: owner, at: now, on: db) else { throw Erased() }
    return owner
  }

  /// The same for who signs in by such a mail before setting a password. An account that had only claimed the address is
  /// theirs without its sessions and its password.
  static func recovered(reading email: EmailAddress, at now: Date, on db: any Connection) throws -> UserID? {
    let wasOnlyClaimed = try AccountStore.isOnlyClaimed(email.canonical, on: db)
    guard let user = try owner(reading: email, at: now, on: db) else { return nil }
    guard wasOnlyClaimed else {
      try ChallengeStore.withdrawAll(of: user, at: now, on: db)
      return user
    }
    try db.change("delete from password where account_id = \(user)")
    _ = try SessionStore.endAll(of: user, because: .passwordChanged, at: now, on: db)
    return user
  }

  static func entered(
    _ user: UserID, _ mint: Mint, _ visit: Visit, at now: Date, on db: any Connection
  ) throws -> Entered {
    let pair = try SessionStore.open(for: user, mint: mint, visit: visit, at: now, on: db)
    guard let profile = try Profile.find(user, on: db) else { throw DatabaseFailure.contended }
    return (profile, pair)
  }
}

extension PasswordDoor.Newcomer {
  fileprivate var confirmation: Challenge.Content {
    Challenge.Content(subject: email.canonical, redirect: redirect, codeChallenge: codeChallenge)
  }
}

extension Identity {
  fileprivate static func claimed(_ newcomer: PasswordDoor.Newcomer) -> Identity {
    Identity(
      issuer: emailIssuer, subject: newcomer.email.canonical, email: newcomer.email.text, displayName: newcomer.name)
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
