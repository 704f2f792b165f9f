import Database
import Foundation
import Outbox
import Wire

/// Replaces an account's address or number once its new one has been shown to be its user's.
struct AddressChanges: Sendable {
  let outbox: Outbox

  /// Does what the answered challenge was asked for.
  ///
  /// - Returns: whose account was changed; nil for a challenge that changes none, or whose account is not active.
  /// - Throws: 422 `email_exists` or `phone_exists` when it has become somebody else's meanwhile.
  func make(_ answered: Answered, at now: Date, on db: any Connection) throws -> UserID? {
    guard answered.kind == .changeEmail || answered.kind == .changePhone, let user = answered.account,
      try AccountStore.hold(user, on: db)
    else { return nil }
    if answered.kind == .changePhone {
      try replacePhone(of: user, with: answered.content.subject, at: now, on: db)
    } else if let email = EmailAddress(answered.content.subject) {
      try replaceEmail(of: user, with: email, at: now, on: db)
    }
    // Whoever has a way in is not anonymous any more.
    try db.change("update account set is_anonymous = \(false) where id = \(user)")
    return user
  }

  /// The address that the account shows stops signing in, and is told so.
  private func replaceEmail(
    of user: UserID, with email: EmailAddress, at now: Date, on db: any Connection
  ) throws {
    let old = try AccountStore.account(user, on: db)?.email.flatMap(EmailAddress.init)
    guard try AccountStore.own(email, isVerified: true, by: user, at: now, on: db) else { throw Failure.emailExists }
    if let old, old.canonical != email.canonical {
      let removed = try db.change(
        """
        delete from identity
        where account_id = \(user) and issuer = \(Identity.emailIssuer) and subject = \(old.canonical)
        """)
      if removed == 1 {
        try outbox.add(AddressNotice.kind, AddressNotice(address: old.text), user: user, at: now, on: db)
      }
    }
    try db.change("update account set email = \(email.text) where id = \(user)")
    try NewEmail.remove(of: user, on: db)
  }

  private func replacePhone(of user: UserID, with number: String, at now: Date, on db: any Connection) throws {
    let identity = Identity(issuer: Identity.phoneIssuer, subject: number)
    let owner = try AccountStore.find(identity, on: db)?.id
    guard owner == nil || owner == user else { throw Failure.phoneExists }
    try db.change(
      """
      delete from identity where account_id = \(user) and issuer = \(Identity.phoneIssuer) and subject <> \(number)
      """)
    if owner == nil { try AccountStore.insert(identity, of: user, at: now, on: db) }
  }
}

extension Failure {
  static let emailExists = Failure(
    .unprocessable, "email_exists", "A user with this email address has already been registered")
  static let phoneExists = Failure(
    .unprocessable, "phone_exists", "A user with this phone number has already been registered")
}
