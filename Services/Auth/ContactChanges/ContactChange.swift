import Database
import Foundation
import Outbox
import Wire

/// Replaces an account's e-mail address or phone number once its user has confirmed the new one.
struct ContactChange: Sendable {
  let outbox: Outbox

  /// Applies the change that the answered challenge was sent for, in the caller's transaction. The caller wakes up the
  /// outbox after the commit.
  ///
  /// - Returns: the user whose account was changed; nil for a challenge of another kind, or when the account is not
  ///   active.
  /// - Throws: 422 `email_exists` or `phone_exists` when another account has verified it meanwhile.
  func apply(_ answered: StoredChallenge, at now: Date, on db: any Connection) throws -> UserID? {
    guard answered.kind == .changeEmail || answered.kind == .changePhone, let user = answered.account,
      try AccountStore.lockActive(user, on: db)
    else { return nil }
    if answered.kind == .changePhone {
      try replacePhone(of: user, with: answered.content.subject, at: now, on: db)
    } else if let email = EmailAddress(answered.content.subject) {
      try replaceEmail(of: user, with: email, at: now, on: db)
    }
    try AccountStore.clearAnonymous(user, on: db)
    return user
  }

  /// The address that the account displayed stops signing in, and is mailed a notice.
  private func replaceEmail(
    of user: UserID, with email: EmailAddress, at now: Date, on db: any Connection
  ) throws {
    let old = try AccountStore.account(user, on: db)?.email.flatMap(EmailAddress.init)
    guard try AccountStore.assignEmail(email, isVerified: true, to: user, at: now, on: db) else {
      throw Failure.emailExists
    }
    if let old, old.canonical != email.canonical {
      let removed = try db.change(
        """
        delete from identity
        where account_id = \(user) and issuer = \(Identity.emailIssuer) and subject = \(old.canonical)
        """)
      if removed == 1 {
        try outbox.add(AddressChangedMail.kind, AddressChangedMail(address: old.text), user: user, at: now, on: db)
      }
    }
    try db.change("update account set email = \(email.text), updated_at = \(now) where id = \(user)")
    if let account = try AccountStore.account(user, on: db) { AccountEvents.changed(account, at: now, on: db) }
    try PendingEmailChange.remove(of: user, on: db)
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
