import Database
import Foundation
import Quotas
import Wire

/// Every statement on passwords.
struct PasswordStore: Sendable {
  let database: any Database
  let quotas: QuotaStore
  let places: KnownPlaces

  struct Stored: Sendable {
    let user: UserID
    let hash: String
  }

  /// The password of whoever the address belongs to; nil when it is nobody's, or the account has none.
  func stored(for email: EmailAddress) async throws -> Stored? {
    try await database.read { db in
      try db.row(
        """
        select p.account_id, p.hash from password p join identity i on i.account_id = p.account_id
        where i.issuer = \(Identity.emailIssuer) and i.subject = \(email.canonical)
        """
      ).map { Stored(user: try $0.get("account_id"), hash: try $0.get("hash")) }
    }
  }

  func stored(of user: UserID) async throws -> Stored? {
    try await database.read { db in
      try db.row("select account_id, hash from password where account_id = \(user)")
        .map { Stored(user: try $0.get("account_id"), hash: try $0.get("hash")) }
    }
  }

  /// Counts a try before it is made, so that many at once are not more than are allowed.
  ///
  /// - Throws: 429, for known and unknown addresses alike.
  func countTry(_ email: EmailAddress, from place: String, at now: Date) async throws {
    try await database.write { [quotas, places] db in
      try quotas.take(.passwordFromHere, for: "\(email.canonical) \(place)", at: now, on: db)
      guard try !places.contains(place, of: email, on: db) else { return }
      try quotas.take(.passwordFromStrangers, for: email.canonical, at: now, on: db)
    }
  }

  /// The try was right: it does not count.
  func forgiveTry(_ email: EmailAddress, from place: String, on db: any Connection) throws {
    try quotas.giveBack(.passwordFromHere, for: "\(email.canonical) \(place)", on: db)
    guard try !places.contains(place, of: email, on: db) else { return }
    try quotas.giveBack(.passwordFromStrangers, for: email.canonical, on: db)
  }

  /// Counts a try of somebody who is signed in.
  ///
  /// - Throws: 429.
  func countTry(of user: UserID, from place: String, at now: Date) async throws {
    try await database.write { [quotas] db in
      try quotas.take(.passwordFromHere, for: "\(user) \(place)", at: now, on: db)
    }
  }

  func forgiveTry(of user: UserID, from place: String) async throws {
    try await database.write { db in try forgiveTry(of: user, from: place, on: db) }
  }

  func forgiveTry(of user: UserID, from place: String, on db: any Connection) throws {
    try quotas.giveBack(.passwordFromHere, for: "\(user) \(place)", on: db)
  }

  /// Keeps another hash of the same password, if that is still the one that was checked: its user has changed nothing.
  ///
  /// - Returns: false when it was changed meanwhile.
  static func rehash(_ hash: String, of user: UserID, checked old: String, on db: any Connection) throws -> Bool {
    try db.change("update password set hash = \(hash) where account_id = \(user) and hash = \(old)") == 1
  }

  /// Sets a password; with `expecting` only if it is still the one that was checked.
  ///
  /// - Returns: false when it was changed meanwhile.
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
