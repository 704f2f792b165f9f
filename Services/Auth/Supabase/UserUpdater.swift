import Database
import Foundation
import Messages
import Wire

/// Applies the changes that users make to their own accounts at `/auth/v1/user`.
struct UserUpdater: Sendable {
  let profiles: ProfileStore
  let passwordSignIn: PasswordSignIn
  let codeSender: CodeSender

  typealias UpdatedUser = (profile: Profile, ended: [EndedSession])

  /// For how long after signing in a bearer alone may change the password.
  private static let recentSignInSeconds = 24.0 * 3600

  /// Changes password and profile in one transaction. A new e-mail address or phone number takes effect when the code
  /// that is sent there is entered.
  ///
  /// - Throws: 401 when the account is not active; 400 `reauthentication_needed`; 422 `same_password`, `email_exists`,
  ///   `phone_exists`; 429 when no code may be sent. Nothing has changed then.
  func apply(
    _ update: UserUpdate, of user: UserID, keeping session: SessionID?, from clientAddress: String, at now: Date
  ) async throws -> UpdatedUser {
    var newPassword: PasswordSignIn.NewPassword?
    var nonce: OneTimeCode?
    if let password = update.password {
      nonce = try await checkedNonce(update, of: user, session, at: now)
      newPassword = try await passwordSignIn.newPassword(password, by: user, from: clientAddress, at: now)
    }
    let outcome = try await passwordSignIn.database.write { [newPassword, nonce] db -> Outcome in
      // Counted in any case: these failures reveal whether an account exists.
      if let taken = try taken(update, by: user, from: clientAddress, at: now, on: db) { return .refused(taken) }
      if let nonce,
        try codeSender.challenges.answer(
          [.reauthentication], user.description, of: .user(user), code: nonce, at: now, on: db) == nil
      {
        return .refused(.reauthenticationInvalid)
      }
      // Before codes are sent: setting the password revokes pending codes.
      let ended =
        try newPassword.map {
          try passwordSignIn.set($0, of: user, keeping: session, from: clientAddress, at: now, on: db)
        } ?? []
      guard try profiles.change(user, update.profile, at: now, on: db) != nil else { throw Failure.sessionEnded }
      try sendCodes(update, of: user, from: clientAddress, at: now, on: db)
      guard let profile = try Profile.find(user, on: db) else { throw Failure.sessionEnded }
      return .done((profile, ended))
    }
    codeSender.outbox.wakeUp()
    switch outcome {
    case .done(let updated): return updated
    case .refused(let failure): throw failure
    }
  }

  /// The result of a transaction that is committed in both cases.
  private enum Outcome: Sendable {
    case done(UpdatedUser)
    case refused(Failure)
  }

  // MARK: Passwords

  /// Sends the code by which the user of a bearer reauthenticates.
  ///
  /// - Throws: 401 when the account is not active; 422 for an account with neither e-mail address nor phone number;
  ///   429.
  func sendReauthenticationCode(_ user: UserID, from clientAddress: String, at now: Date) async throws {
    let profile = try await passwordSignIn.database.read { db in try Profile.find(user, on: db) }
    guard let profile else { throw Failure.sessionEnded }
    let content = Challenge.Content(subject: user.description)
    if let email = profile.account.email.flatMap(EmailAddress.init) {
      try await codeSender.sendMail(
        email, for: .reauthentication, content: content, account: user, from: clientAddress, at: now)
    } else if let number = profile.phone.flatMap({ PhoneNumber($0.subject) }) {
      try await codeSender.sendSMS(
        number, for: .reauthentication, content: content, account: user, from: clientAddress, at: now)
    } else {
      throw Failure.reauthenticationImpossible
    }
  }

  /// The code to use up with the change; nil when the session is recent enough. Checked before the new password is
  /// compared with the current one: a caller with a bearer alone must not learn whether they are equal.
  private func checkedNonce(
    _ update: UserUpdate, of user: UserID, _ session: SessionID?, at now: Date
  ) async throws -> OneTimeCode? {
    let isRecent = try await passwordSignIn.database.read { db in
      try SessionStore.isOpen(session, of: user, since: now - Self.recentSignInSeconds, on: db)
    }
    if isRecent { return nil }
    guard let typed = update.nonce, !typed.isEmpty else { throw Failure.reauthenticationNeeded }
    guard let nonce = OneTimeCode(typed: typed) else { throw Failure.reauthenticationInvalid }
    let isCorrect = try await passwordSignIn.database.write { [codeSender] db in
      try codeSender.challenges.isCorrect(
        [.reauthentication], user.description, of: .user(user), code: nonce, at: now, on: db)
    }
    guard isCorrect else { throw Failure.reauthenticationInvalid }
    return nonce
  }

  // MARK: Addresses and numbers

  /// The failure for a new address or number that another account has verified; nil when there is none.
  private func taken(
    _ update: UserUpdate, by user: UserID, from clientAddress: String, at now: Date, on db: any Connection
  ) throws -> Failure? {
    if let email = update.email, let owner = try AccountStore.owner(ofEmail: email.canonical, on: db), owner != user,
      try !AccountStore.isOnlyClaimed(email.canonical, on: db)
    {
      try codeSender.takeMailQuota(to: email, from: clientAddress, at: now, on: db)
      return .emailExists
    }
    if let phone = update.phone,
      let owner = try AccountStore.find(Identity(issuer: Identity.phoneIssuer, subject: phone.text), on: db)?.id,
      owner != user
    {
      try codeSender.sendSMS(
        phone, for: .changePhone, content: .init(subject: phone.text), account: user, sends: false, from: clientAddress,
        at: now, on: db)
      return .phoneExists
    }
    return nil
  }

  /// Sends codes to a new e-mail address and a new phone number.
  private func sendCodes(
    _ update: UserUpdate, of user: UserID, from clientAddress: String, at now: Date, on db: any Connection
  ) throws {
    let profile = try Profile.find(user, on: db)
    if let email = update.email, email.canonical != profile?.email?.subject {
      let content = Challenge.Content(
        subject: email.canonical, redirect: update.redirect, codeChallenge: update.codeChallenge)
      try codeSender.challenges.revoke(.changeEmail, of: user, except: email.canonical, at: now, on: db)
      try codeSender.sendMail(
        email, for: .changeEmail, content: content, account: user, from: clientAddress, at: now, on: db)
      try PendingEmailChange.store(email, of: user, until: now + CodeSender.mailLifetime, at: now, on: db)
    }
    if let phone = update.phone, phone.text != profile?.phone?.subject {
      try codeSender.challenges.revoke(.changePhone, of: user, except: phone.text, at: now, on: db)
      try codeSender.sendSMS(
        phone, for: .changePhone, content: .init(subject: phone.text), account: user, from: clientAddress, at: now,
        on: db)
    }
  }
}

extension SessionStore {
  /// Whether a session was opened by a sign-in after `then` and has not ended. False for bearers without a session.
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
  static let reauthenticationImpossible = Failure(
    .unprocessable, "validation_failed", "Reauthentication requires the user to have an email or a phone number")
}
