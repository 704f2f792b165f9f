import Database
import Foundation
import Quotas
import Wire

/// All statements on passwords, and the quotas of password tries.
struct PasswordStore: Sendable {
  let database: any Database
  let quotas: QuotaStore
  let knownAddresses: KnownAddresses

  struct StoredPassword: Sendable {
    let user: UserID
    let hash: String
  }

  /// The password of the account that has the address; nil when no account has it, or the account has no password.
  func storedPassword(for email: EmailAddress) async throws -> StoredPassword? {
    try await database.read { db in
      try db.row(
        """
        select p.account_id, p.hash from password p join identity i on i.account_id = p.account_id
        where i.issuer = \(Identity.emailIssuer) and i.subject = \(email.canonical)
        """
      ).map { StoredPassword(user: try $0.get("account_id"), hash: try $0.get("hash")) }
    }
  }

  func storedPassword(of user: UserID) async throws -> StoredPassword? {
    try await database.read { db in
      try db.row("select account_id, hash from password where account_id = \(user)")
        .map { StoredPassword(user: try $0.get("account_id"), hash: try $0.get("hash")) }
    }
  }

  /// Counts a try before the password is compared, so that concurrent tries do not exceed the quota.
  ///
  /// - Throws: 429, whether or not an account has the address.
  func takeAttempt(_ email: EmailAddress, from clientAddress: String, at now: Date) async throws {
    try await database.write { [quotas, knownAddresses] db in
      try quotas.take(.passwordPerClientAddress, for: "\(email.canonical) \(clientAddress)", at: now, on: db)
      guard try !knownAddresses.contains(clientAddress, of: email, on: db) else { return }
      try quotas.take(.passwordFromUnknownAddresses, for: email.canonical, at: now, on: db)
    }
  }

  /// Gives a try back: the password was right.
  func giveBackAttempt(_ email: EmailAddress, from clientAddress: String, on db: any Connection) throws {
    try quotas.giveBack(.passwordPerClientAddress, for: "\(email.canonical) \(clientAddress)", on: db)
    guard try !knownAddresses.contains(clientAddress, of: email, on: db) else { return }
    try quotas.giveBack(.passwordFromUnknownAddresses, for: email.canonical, on: db)
  }

  /// Counts a try of a signed-in user.
  ///
  /// - Throws: 429.
  func takeAttempt(of user: UserID, from clientAddress: String, at now: Date) async throws {
    try await database.write { [quotas] db in
      try quotas.take(.passwordPerClientAddress, for: "\(user) \(clientAddress)", at: now, on: db)
    }
  }

  /// Gives back a try of a signed-in user.
  func giveBackAttempt(of user: UserID, from clientAddress: String) async throws {
    try await database.write { db in try giveBackAttempt(of: user, from: clientAddress, on: db) }
  }

  func giveBackAttempt(of user: UserID, from clientAddress: String, on db: any Connection) throws {
    try quotas.giveBack(.passwordPerClientAddress, for: "\(user) \(clientAddress)", on: db)
  }

  /// Stores another hash of the same password, if the stored hash is still the one that was checked.
  ///
  /// - Returns: false when the password was changed meanwhile.
  static func rehash(_ hash: String, of user: UserID, checked old: String, on db: any Connection) throws -> Bool {
    try db.change("update password set hash = \(hash) where account_id = \(user) and hash = \(old)") == 1
  }

  /// Sets a password; with `expecting`, only if the stored hash is still the one that was checked.
  ///
  /// - Returns: false when the password was changed meanwhile.
  static func set(
    _ hash: String, of user: UserID, expecting old: String? = nil, at now: Date, on db: any Connection
  ) throws -> Bool {
    guard let old else {
      return try db.change(
        """
        insert into password (account_id, hash, changed_at) values (\(user), \(hash), \(now))
        on conflict (account_id) do update set hash = excluded.hash, changed_at = excluded.changed_at
        """) == 1
    }
    return try db.change(
      "update password set hash = \(hash), changed_at = \(now) where account_id = \(user) and hash = \(old)") == 1
  }
}
