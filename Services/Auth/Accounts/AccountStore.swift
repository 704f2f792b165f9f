import Database
import Foundation
import Wire

/// Every statement on accounts and their identities.
struct AccountStore: Sendable {
  let database: any Database

  /// The account that an outside system knows by an identity, made when there is none. Safe under concurrent first calls.
  func account(for identity: Identity, at now: Date) async throws -> (account: Account, created: Bool) {
    try await Self.again {
      try await database.write { db in
        if let account = try Self.find(identity, on: db) { return (account, false) }
        return (try Self.create(identity, signsIn: false, at: now, on: db), true)
      }
    }
  }

  /// Opens a session for the account behind an identity, made when there is none, restored when it was deactivated. One
  /// transaction, so that whoever ends all sessions at the same time ends this one, too. Safe under concurrent first calls.
  func signIn(
    _ identity: Identity, mint: Mint, visit: Visit, at now: Date
  ) async throws -> (account: Account, pair: TokenPair) {
    try await Self.again {
      try await database.write { db in
        let known = try Self.find(identity, on: db) ?? Self.linked(identity, at: now, on: db)
        let account =
          try known.map { try Self.signedIn($0.id, as: identity, at: now, on: db) }
          ?? Self.create(identity, signsIn: true, at: now, on: db)
        return (account, try SessionStore.open(for: account.id, mint: mint, visit: visit, at: now, on: db))
      }
    }
  }

  /// A session of a new account that nobody can sign in to again, until a way in is added to it.
  func openAnonymous(
    metadata: JSONValue?, name: String?, mint: Mint, visit: Visit, at now: Date
  ) async throws -> (user: UserID, pair: TokenPair) {
    try await database.write { db in
      let user = UserID.new(at: now)
      try db.change(
        """
        insert into account (id, display_name, created_at, last_login_at, is_anonymous)
        values (\(user), \(name), \(now), \(now), \(true))
        """)
      if let metadata { try Self.keep(metadata, of: user, on: db) }
      return (user, try SessionStore.open(for: user, mint: mint, visit: visit, at: now, on: db))
    }
  }

  /// Who loses the race for the unique index finds the winner's row in the next round.
  static func again<T>(_ round: () async throws -> T) async throws -> T {
    for _ in 0..<3 {
      do { return try await round() } catch DatabaseFailure.unique("identity_issuer_subject") {} catch is Erased {}
    }
    throw DatabaseFailure.contended
  }

  /// An account that has not been deactivated.
  func active(_ id: UserID) async throws -> Account? {
    try await database.read { db in
      try db.row("\(selectAccount) where id = \(id) and deactivated_at is null").map(Account.init)
    }
  }

  func any(_ id: UserID) async throws -> Account? {
    try await database.read { db in try db.row("\(selectAccount) where id = \(id)").map(Account.init) }
  }

  /// The active account that an outside system names: our id first, then its own.
  func active(knownAs name: String) async throws -> Account? {
    if let id = UserID(name), let account = try await active(id) { return account }
    let identity = Identity.external(name)
    return try await database.read { db in try Self.find(identity, on: db).flatMap { $0.isActive ? $0 : nil } }
  }

  static func find(_ identity: Identity, on db: any Connection) throws -> Account? {
    try db.row(
      """
      \(selectAccount) where id =
        (select account_id from identity where issuer = \(identity.issuer) and subject = \(identity.subject))
      """
    ).map(Account.init)
  }

  /// The account of an identity that is new, when its verified address is one that the account has verified, too. Two
  /// subjects of one issuer stay two people, whatever their address.
  static func linked(_ identity: Identity, at now: Date, on db: any Connection) throws -> Account? {
    guard identity.isEmailVerified, let email = identity.email.flatMap(EmailAddress.init) else { return nil }
    let owner = try db.row(
      """
      \(selectAccount) where id = (select account_id from identity
        where issuer = \(Identity.emailIssuer) and subject = \(email.canonical) and is_email_verified)
        and not exists (select 1 from identity other where other.account_id = account.id
          and other.issuer = \(identity.issuer))
      """)
    guard let account = try owner.map(Account.init) else { return nil }
    try insert(identity, of: account.id, at: now, on: db)
    return account
  }

  static func insert(
    _ identity: Identity, of account: UserID, at now: Date, on db: any Connection
  ) throws {
    try db.change(
      """
      insert into identity (issuer, subject, account_id, email, is_email_verified, is_private_email, created_at)
      values (\(identity.issuer), \(identity.subject), \(account), \(identity.email), \(identity.isEmailVerified),
        \(identity.isPrivateEmail), \(now))
      """)
    guard identity.claimsEmail, let email = identity.email.flatMap(EmailAddress.init) else { return }
    try own(email, isVerified: identity.isEmailVerified, by: account, at: now, on: db)
  }

  static func create(
    _ identity: Identity, signsIn: Bool, at now: Date, on db: any Connection
  ) throws -> Account {
    let id = UserID.new(at: now)
    try db.change(
      """
      insert into account (id, email, display_name, created_at, last_login_at)
      values (\(id), \(try shown(of: identity, on: db)), \(identity.displayName), \(now),
        \(signsIn ? now : nil as Date?))
      """)
    try insert(identity, of: id, at: now, on: db)
    guard let account = try Self.account(id, on: db) else { throw DatabaseFailure.contended }
    return account
  }

  /// An address of its own is shown once the account has it; one that an outside system tells, unless it is somebody's.
  private static func shown(of identity: Identity, on db: any Connection) throws -> String? {
    guard !identity.claimsEmail, let email = identity.email.flatMap(EmailAddress.init) else { return nil }
    return try owner(ofEmail: email.canonical, on: db) == nil ? email.text : nil
  }

  static func account(_ id: UserID, on db: any Connection) throws -> Account? {
    try db.row("\(selectAccount) where id = \(id)").map(Account.init)
  }

  /// What an issuer tells only once is kept; what the account already has is not replaced.
  static func signedIn(
    _ id: UserID, as identity: Identity, at now: Date, on db: any Connection
  ) throws -> Account {
    guard try enter(id, at: now, on: db) else { throw Erased() }
    try db.change(
      "update account set display_name = coalesce(display_name, \(identity.displayName)) where id = \(id)")
    if let email = identity.email {
      let isNews =
        try db.row(
          """
          select account_id from identity
          where issuer = \(identity.issuer) and subject = \(identity.subject) and email is null
          """) != nil
      try db.change(
        """
        update identity set email = \(email), is_email_verified = \(identity.isEmailVerified),
          is_private_email = \(identity.isPrivateEmail)
        where issuer = \(identity.issuer) and subject = \(identity.subject)
        """)
      // Only then: an address that its user has taken away does not come back with every sign-in.
      if isNews, identity.claimsEmail, let email = EmailAddress(email) {
        try own(email, isVerified: identity.isEmailVerified, by: id, at: now, on: db)
      }
    }
    guard let account = try account(id, on: db) else { throw Erased() }
    return account
  }

  /// Notes a sign-in and restores an account that was deactivated. False when it is being erased.
  static func enter(_ id: UserID, at now: Date, on db: any Connection) throws -> Bool {
    let entered = try db.change(
      "update account set last_login_at = \(now), deactivated_at = null where id = \(id) and erased_at is null")
    guard entered == 1 else { return false }
    try db.change("delete from erasure where account_id = \(id)")
    return true
  }

  /// Locks an account until the transaction ends, and says whether it is active: to one that is not, nothing may be
  /// written that its erasure would then miss.
  static func hold(_ user: UserID, on db: any Connection) throws -> Bool {
    try db.change("update account set number = number where id = \(user) and deactivated_at is null") == 1
  }

  /// The same for one that its user may still bring back.
  static func holdUnlessErased(_ user: UserID, on db: any Connection) throws -> Bool {
    try db.change("update account set number = number where id = \(user) and erased_at is null") == 1
  }

  /// Merges members into what the app keeps with the account; null removes one.
  ///
  /// - Throws: 401 when the account is not active; the validation failure when it becomes too much.
  static func keep(_ changes: JSONValue, of user: UserID, on db: any Connection) throws {
    guard case .object(let changes) = changes else { return }
    // Locked before it is read: of two changes at the same time, the second adds to the first.
    guard try hold(user, on: db) else { throw Failure.sessionEnded }
    let stored = try db.row("select metadata from account where id = \(user)")?.optional("metadata", as: String.self)
    let known = try stored.map { try JSON.decode([String: JSONValue].self, from: Data($0.utf8)) } ?? [:]
    let merged = known.merging(changes) { $1 }.filter { $0.value != .null }
    let text = String(decoding: try JSON.encodeExact(merged), as: UTF8.self)
    guard text.utf8.count <= metadataBytesMax else {
      throw Failure.invalid(.init("data", "must have at most \(metadataBytesMax / 1024) KB"))
    }
    try db.change("update account set metadata = \(text) where id = \(user)")
  }

  private static let metadataBytesMax = 16 * 1024
}

/// The account was forgotten a moment ago: whoever looks again finds nobody.
struct Erased: Error {}

let accountColumns: SQL = """
  id, number, email, display_name, locale, time_zone, avatar_url, metadata, is_anonymous, is_discoverable, created_at,
  last_login_at, deactivated_at, \(Proof.column(of: "account.id"))
  """
private let selectAccount: SQL = "select \(accountColumns) from account"

extension Account {
  init(_ row: Row) throws {
    id = try row.get("id")
    number = try row.get("number")
    email = try row.optional("email")
    displayName = try row.optional("display_name")
    locale = try row.optional("locale")
    timeZone = try row.optional("time_zone")
    avatarURL = try row.optional("avatar_url")
    metadata = try row.optional("metadata")
    isAnonymous = try row.get("is_anonymous")
    isDiscoverable = try row.get("is_discoverable")
    createdAt = try row.get("created_at")
    lastLoginAt = try row.optional("last_login_at")
    isActive = try row.optional("deactivated_at", as: Date.self) == nil
    proof = try Proof(row)
  }
}
