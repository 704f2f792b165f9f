import Database
import Foundation
import Messages
import Wire

/// What a signed-in user wants changed in one call: looked at as a whole before anything is done, and done as a whole.
struct UserChange: Sendable {
  let profile: ProfileChanges
  let password: String?
  /// The code that a change of the password asks for when the session is not new.
  let nonce: String?
  let email: EmailAddress?
  let phone: PhoneNumber?
  /// Where the link to a new address leads, and for whom.
  let redirect: String?
  let codeChallenge: CodeChallenge?

  /// - Throws: the validation failure of what is wrong, but for the password, which is looked at when it is hashed.
  init(_ body: SupabaseBody, redirect: String?) throws(Failure) {
    profile = try ProfileChanges(displayName: try body.name(), metadata: body.data)
    password = body.password
    nonce = body.nonce
    email = try body.email == nil ? nil : body.address()
    phone = try body.number()
    self.redirect = redirect
    codeChallenge = try body.codeChallenge()
  }
}

/// Carries out what users want changed of themselves.
struct UserChanges: Sendable {
  let passwords: PasswordDoor
  let sender: CodeSender

  typealias Done = (profile: Profile, ended: [EndedSession])

  /// How long after signing in the bearer is enough to change the password.
  private static let freshSeconds = 24.0 * 3600

  /// Password and profile at once; an address or a number when the code that goes there comes back.
  ///
  /// - Throws: 401 when the account is not active; 400 `reauthentication_needed`; 422 `same_password`, `email_exists`,
  ///   `phone_exists`; 429 when no code may be sent. Nothing has changed then.
  func make(
    _ change: UserChange, of user: UserID, keeping session: SessionID?, from place: String, at now: Date
  ) async throws -> Done {
    var chosen: PasswordDoor.Chosen?
    var nonce: OneTimeCode?
    if let password = change.password {
      nonce = try await checkedNonce(change, of: user, session, at: now)
      chosen = try await passwords.chosen(password, by: user, from: place, at: now)
    }
    let outcome = try await passwords.database.write { [chosen, nonce] db -> Outcome in
      // Who asks is counted, whatever comes of it: these answers tell whether somebody has an account.
      if let taken = try taken(change, by: user, from: place, at: now, on: db) { return .refused(taken) }
      if let nonce,
        try sender.challenges.answer(
          [.reauthentication], user.description, of: .user(user), code: nonce,
          at: now, on: db) == nil
      {
        return .refused(.reauthenticationInvalid)
      }
      // First: what is sent below is not withdrawn by it.
      let ended =
        try chosen.map { try passwords.set($0, of: user, keeping: session, from: place, at: now, on: db) } ?? []
      guard try ProfileStore.change(user, change.profile, on: db) != nil else { throw Failure.sessionEnded }
      try send(change, of: user, from: place, at: now, on: db)
      guard let profile = try Profile.find(user, on: db) else { throw Failure.sessionEnded }
      return .done((profile, ended))
    }
    sender.outbox.ring()
    switch outcome {
    case .done(let done): return done
    case .refused(let failure): throw failure
    }
  }

  /// What a transaction that is kept has come to.
  private enum Outcome: Sendable {
    case done(Done)
    case refused(Failure)
  }

  // MARK: Passwords

  /// Sends the code that shows that it is still the user who holds the bearer.
  ///
  /// - Throws: 422 for an account without an address and a number; 429.
  func askAgain(_ user: UserID, from place: String, at now: Date) async throws {
    let profile = try await passwords.database.read { db in try Profile.find(user, on: db) }
    guard let profile else { throw Failure.sessionEnded }
    let content = Challenge.Content(subject: user.description)
    if let email = profile.account.email.flatMap(EmailAddress.init) {
      try await sender.mail(email, for: .reauthentication, content: content, account: user, from: place, at: now)
    } else if let number = profile.phone.flatMap({ PhoneNumber($0.subject) }) {
      try await sender.text(number, for: .reauthentication, content: content, account: user, from: place, at: now)
    } else {
      throw Failure.nowhereToSend
    }
  }

  /// The code that has to be used up with the change; nil when the session is new enough. Looked at before the password
  /// is: whether that is the old one is nobody's business who only has the bearer.
  private func checkedNonce(
    _ change: UserChange, of user: UserID, _ session: SessionID?, at now: Date
  ) async throws -> OneTimeCode? {
    let isFresh = try await passwords.database.read { db in
      try SessionStore.isOpen(session, of: user, since: now - Self.freshSeconds, on: db)
    }
    if isFresh { return nil }
    guard let typed = change.nonce, !typed.isEmpty else { throw Failure.reauthenticationNeeded }
    guard let nonce = OneTimeCode(typed: typed) else { throw Failure.reauthenticationInvalid }
    let isRight = try await passwords.database.write { [sender] db in
      try sender.challenges.isRight(
        [.reauthentication], user.description, of: .user(user), code: nonce, at: now, on: db)
    }
    guard isRight else { throw Failure.reauthenticationInvalid }
    return nonce
  }

  // MARK: Addresses and numbers

  /// Why a new address or number cannot be theirs, if so.
  private func taken(
    _ change: UserChange, by user: UserID, from place: String, at now: Date, on db: any Connection
  ) throws -> Failure? {
    if let email = change.email, let owner = try AccountStore.owner(ofEmail: email.canonical, on: db), owner != user,
      try !AccountStore.isOnlyClaimed(email.canonical, on: db)
    {
      try sender.countMail(to: email, from: place, at: now, on: db)
      return .emailExists
    }
    if let phone = change.phone,
      let owner = try AccountStore.find(Identity(issuer: Identity.phoneIssuer, subject: phone.text), on: db)?.id,
      owner != user
    {
      try sender.text(
        phone, for: .changePhone, content: .init(subject: phone.text), account: user, sends: false, from: place,
        at: now, on: db)
      return .phoneExists
    }
    return nil
  }

  private func send(
    _ change: UserChange, of user: UserID, from place: String, at now: Date, on db: any Connection
  ) throws {
    let profile = try Profile.find(user, on: db)
    if let email = change.email, email.canonical != profile?.email?.subject {
      let content = Challenge.Content(
        subject: email.canonical, redirect: change.redirect, codeChallenge: change.codeChallenge)
      try sender.challenges.withdraw(.changeEmail, of: user, but: email.canonical, at: now, on: db)
      try sender.mail(email, for: .changeEmail, content: content, account: user, from: place, at: now, on: db)
      try NewEmail.note(email, of: user, until: now + CodeSender.mailLifetime, at: now, on: db)
    }
    if let phone = change.phone, phone.text != profile?.phone?.subject {
      try sender.challenges.withdraw(.changePhone, of: user, but: phone.text, at: now, on: db)
      try sender.text(
        phone, for: .changePhone, content: .init(subject: phone.text), account: user, from: place, at: now, on: db)
    }
  }
}

extension SessionStore {
  /// Whether a session was opened by signing in after `then`, and is not over. False for bearers that have none.
  fileprivate static func isOpen(
    _ session: SessionID?, of user: UserID, since then: Date, on db: any Connection
  ) throws -> Bool {
    guard let session else { return false }
    return try db.row(
      """
      select id from session
      where id = \(session) and account_id = \(user) and ended_at is null and opened_at > \(then) and is_signed_in
      """) != nil
  }
}

extension Failure {
  static let reauthenticationNeeded = Failure(
    .malformed, "reauthentication_needed", "Password update requires reauthentication")
  static let reauthenticationInvalid = Failure(
    .unprocessable, "reauthentication_not_valid", "Nonce has expired or is invalid")
  static let nowhereToSend = Failure(
    .unprocessable, "validation_failed", "Reauthentication requires the user to have an email or a phone number")
}
