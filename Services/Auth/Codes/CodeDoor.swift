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

  /// Opens a session for whoever has the number. One code, many at once: one session.
  ///
  /// - Parameter name: kept when the account has none yet.
  /// - Throws: 400 `invalid_code`; 429 for too many tries from one place.
  func signIn(
    _ number: PhoneNumber, _ typed: String, name: String?, visit: Visit, from place: String, at now: Date
  ) async throws -> PasswordDoor.Entered {
    guard let code = OneTimeCode(typed: typed) else { throw Failure.invalidCode }
    return try await entered(visit, from: place, at: now) { db in
      try challenges.answer([.phone], number.text, code: code, at: now, on: db).map { answered in
        var identity = Identity(issuer: Identity.phoneIssuer, subject: number.text)
        identity.displayName = name ?? answered.content.name
        return (identity, answered)
      }
    }
  }

  /// Opens a session for whoever reads the address's mail.
  func signIn(
    _ email: EmailAddress, _ typed: String, kinds: [Challenge.Kind], visit: Visit, from place: String, at now: Date
  ) async throws -> PasswordDoor.Entered {
    guard let code = OneTimeCode(typed: typed) else { throw Failure.invalidCode }
    return try await entered(visit, from: place, at: now) { db in
      try challenges.answer(kinds, email.canonical, code: code, at: now, on: db).flatMap(Self.mailed)
    }
  }

  func signIn(_ link: LinkToken, visit: Visit, from place: String, at now: Date) async throws -> PasswordDoor.Entered {
    try await entered(visit, from: place, at: now) { db in
      try challenges.answer(link, at: now, on: db).flatMap(Self.mailed)
    }
  }

  /// Makes the address that of whoever reads its mail. Opens no session: nobody would receive it.
  ///
  /// - Throws: 400 `invalid_code`; 429 for too many tries from one place.
  func confirm(_ link: LinkToken, from place: String, at now: Date) async throws {
    _ = try await answered(
      from: place, at: now,
      { db in
        try challenges.answer(link, at: now, on: db).flatMap(Self.mailed)
      }
    ) { _, _ in true }
  }

  private static func mailed(_ answered: Answered) -> (Identity, Answered)? {
    guard let email = EmailAddress(answered.content.subject) else { return nil }
    var identity = Identity.reader(of: email)
    identity.displayName = answered.content.name
    return (identity, answered)
  }

  private func entered(
    _ visit: Visit, from place: String, at now: Date,
    _ answer: @escaping @Sendable (any Connection) throws -> (Identity, Answered)?
  ) async throws -> PasswordDoor.Entered {
    try await answered(from: place, at: now, answer) { [mint] user, db in
      try PasswordDoor.entered(user, mint, visit, at: now, on: db)
    }
  }

  /// - Parameter then: in the transaction that used the code up.
  private func answered<Result: Sendable>(
    from place: String, at now: Date, _ answer: @escaping @Sendable (any Connection) throws -> (Identity, Answered)?,
    then: @escaping @Sendable (UserID, any Connection) throws -> Result
  ) async throws -> Result {
    try await database.write { [quotas] db in try quotas.take(.codeTriesFromHere, for: place, at: now, on: db) }
    let result = try await AccountStore.again {
      try await database.write { [quotas] db -> Result? in
        // A wrong code has been counted: that is to stay, so it is no error here.
        guard let (identity, answered) = try answer(db),
          let user = try Self.account(of: identity, answered, at: now, on: db)
        else { return nil }
        try quotas.giveBack(.codeTriesFromHere, for: place, on: db)
        return try then(user, db)
      }
    }
    guard let result else { throw Failure.invalidCode }
    return result
  }

  private static func account(
    of identity: Identity, _ answered: Answered, at now: Date, on db: any Connection
  ) throws -> UserID? {
    let user: UserID
    if let account = answered.account {
      // Whoever asked for it reads the mail, so the address becomes theirs. When somebody else has verified it since,
      // nobody comes in by an old mail to what is not theirs.
      guard try AccountStore.enter(account, at: now, on: db) else { return nil }
      guard let email = EmailAddress(identity.subject),
        try AccountStore.own(email, isVerified: true, by: account, at: now, on: db)
      else { throw Failure.invalidCode }
      user = account
    } else if let known = try AccountStore.find(identity, on: db), try !isOnlyClaimed(identity, on: db) {
      user = try AccountStore.signedIn(known.id, as: identity, at: now, on: db).id
    } else if answered.content.createsUser {
      user = try AccountStore.create(taking: identity, at: now, on: db)
    } else {
      return nil
    }
    if identity.issuer == Identity.emailIssuer, let email = identity.email.flatMap(EmailAddress.init) {
      try AccountStore.own(email, isVerified: true, by: user, at: now, on: db)
    }
    if let metadata = answered.content.metadata { try AccountStore.keep(metadata, of: user, on: db) }
    return user
  }

  /// An address that an account has only claimed goes to whoever verifies it.
  private static func isOnlyClaimed(_ identity: Identity, on db: any Connection) throws -> Bool {
    try identity.issuer == Identity.emailIssuer && AccountStore.isOnlyClaimed(identity.subject, on: db)
  }
}
