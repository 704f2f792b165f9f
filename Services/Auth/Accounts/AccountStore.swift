import Database
import Foundation
import Wire

/// Every statement on accounts and their identities.
struct AccountStore: Sendable {
  let database: any Database

  /// The account of an external system's user, created when there is none. Safe under concurrent first calls.
  func account(for identity: Identity, at now: Date) async throws -> (account: Account, created: Bool) {
    try await Self.retryingConflicts {
      try await database.write { db in
        if let account = try Self.find(identity, on: db) { return (account, false) }
        return (try Self.create(identity, signsIn: false, at: now, on: db), true)
      }
    }
  }

  /// Opens a session for the account of an identity. The account is created when there is none and restored when it was
  /// deactivated. One transaction, so that a concurrent call that ends all sessions ends this one as well. Safe under
  /// concurrent first calls.
  func signIn(
    _ identity: Identity, tokenIssuer: TokenPairIssuer, context: SignInContext, at now: Date
  ) async throws -> (account: Account, pair: TokenPair) {
    try await Self.retryingConflicts {
      try await database.write { db in
        let known = try Self.find(identity, on: db) ?? Self.linkByEmail(identity, at: now, on: db)
        let account =
          try known.map { try Self.recordSignIn(of: $0.id, as: identity, at: now, on: db) }
          ?? Self.create(identity, signsIn: true, at: now, on: db)
        let pair = try SessionStore.open(
          for: account.id, tokenIssuer: tokenIssuer, context: context, at: now, on: db)
        return (account, pair)
      }
    }
  }

  /// Opens a session for a new account, to which nobody can sign in again until an identity is added.
  func signInAnonymously(
    metadata: JSONValue?, name: String?, tokenIssuer: TokenPairIssuer, context: SignInContext, at now: Date
  ) async throws -> (user: UserID, pair: TokenPair) {
    try await database.write { db in
      let user = UserID.new(at: now)
      try db.change(
        """
        insert into account (id, display_name, created_at, updated_at, last_login_at, is_anonymous)
        values (\(user), \(name), \(now), \(now), \(now), \(true))
        """)
      if let metadata { try Self.mergeMetadata(metadata, of: user, on: db) }
      return (user, try SessionStore.open(for: user, tokenIssuer: tokenIssuer, context: context, at: now, on: db))
    }
  }

  /// Retries a transaction that failed on the unique index of identities; the retry finds the row of the concurrent
  /// call. The same for an account that was erased meanwhile.
  static func retryingConflicts<T>(_ operation: () async throws -> T) async throws -> T {
    for _ in 0..<3 {
      do { return try await operation() } catch DatabaseFailure.unique("identity_issuer_subject") {
      } catch is AccountErased {}
    }
    throw DatabaseFailure.contended
  }

  /// An account that is not deactivated.
  func activeAccount(_ id: UserID) async throws -> Account? {
    try await database.row("\(selectAccount) where id = \(id) and deactivated_at is null").map(Account.init)
  }

  /// What the user of an active account is told about it. An app asks for it whenever it starts, so nothing else is
  /// read: neither the metadata nor the identities.
  static func ownAccountQuery(_ id: UserID) -> SQL {
    "select id, email, display_name, created_at from account where id = \(id) and deactivated_at is null"
  }

  func account(_ id: UserID) async throws -> Account? {
    try await database.row("\(selectAccount) where id = \(id)").map(Account.init)
  }

  /// The active account by the id that an external system sends: our id, else the external one.
  func activeAccount(withAnyID name: String) async throws -> Account? {
    if let id = UserID(name), let account = try await activeAccount(id) { return account }
    let identity = Identity.externalID(name)
    return try await database.row(Self.query(identity)).map(Account.init).flatMap { $0.isActive ? $0 : nil }
  }

  static func find(_ identity: Identity, on db: any Connection) throws -> Account? {
    try db.row(query(identity)).map(Account.init)
  }

  private static func query(_ identity: Identity) -> SQL {
    """
    \(selectAccount) where id =
      (select account_id from identity where issuer = \(identity.issuer) and subject = \(identity.subject))
    """
  }

  /// Adds a new identity to the account that has verified the same e-mail address, if any. Two subjects of one issuer
  /// remain two accounts, whatever their addresses.
  static func linkByEmail(_ identity: Identity, at now: Date, on db: any Connection) throws -> Account? {
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
    try assignEmail(email, isVerified: identity.isEmailVerified, to: account, at: now, on: db)
  }

  static func create(
    _ identity: Identity, signsIn: Bool, at now: Date, on db: any Connection
  ) throws -> Account {
    let id = UserID.new(at: now)
    try db.change(
      """
      insert into account (id, email, display_name, created_at, updated_at, last_login_at)
      values (\(id), \(try displayedEmail(of: identity, on: db)), \(identity.displayName), \(now), \(now),
        \(signsIn ? now : nil as Date?))
      """)
    try insert(identity, of: id, at: now, on: db)
    guard let account = try Self.account(id, on: db) else { throw DatabaseFailure.contended }
    return account
  }

  /// The address to display for a new account. An identity that claims its address displays it when it is assigned; the
  /// address from an external system is displayed unless it belongs to an account.
  private static func displayedEmail(of identity: Identity, on db: any Connection) throws -> String? {
    guard !identity.claimsEmail, let email = identity.email.flatMap(EmailAddress.init) else { return nil }
    return try owner(ofEmail: email.canonical, on: db) == nil ? email.text : nil
  }

  static func account(_ id: UserID, on db: any Connection) throws -> Account? {
    try db.row(accountSQL(id)).map(Account.init)
  }

  static func accountSQL(_ id: UserID) -> SQL { "\(selectAccount) where id = \(id)" }

  /// Stores what an issuer sends only once. Does not replace values that the account already has.
  static func recordSignIn(
    of id: UserID, as identity: Identity, at now: Date, on db: any Connection
  ) throws -> Account {
    guard try recordSignIn(of: id, at: now, on: db) else { throw AccountErased() }
    try db.change(
      "update account set display_name = coalesce(display_name, \(identity.displayName)) where id = \(id)")
    if let email = identity.email {
      let isFirstEmail =
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
      // Only then: an address that the user has removed is not added again with every sign-in.
      if isFirstEmail, identity.claimsEmail, let email = EmailAddress(email) {
        try assignEmail(email, isVerified: identity.isEmailVerified, to: id, at: now, on: db)
      }
    }
    guard let account = try account(id, on: db) else { throw AccountErased() }
    return account
  }

  /// Records a sign-in and restores a deactivated account. False when the account is being erased.
  static func recordSignIn(of id: UserID, at now: Date, on db: any Connection) throws -> Bool {
    let updated = try db.change(
      "update account set last_login_at = \(now), deactivated_at = null where id = \(id) and erased_at is null")
    guard updated == 1 else { return false }
    try db.change("delete from erasure where account_id = \(id)")
    return true
  }

  /// Locks an account until the transaction ends. False when it is not active: then nothing may be written, as its
  /// erasure would not delete it.
  static func lockActive(_ user: UserID, on db: any Connection) throws -> Bool {
    try db.change("update account set number = number where id = \(user) and deactivated_at is null") == 1
  }

  /// Locks an account that is active, or deactivated and not yet erased.
  static func lockUnlessErased(_ user: UserID, on db: any Connection) throws -> Bool {
    try db.change("update account set number = number where id = \(user) and erased_at is null") == 1
  }

  /// Records that an account can be signed in to. Call it after adding an identity.
  static func clearAnonymous(_ user: UserID, on db: any Connection) throws {
    try db.change("update account set is_anonymous = \(false) where id = \(user)")
  }

  /// Merges members into the metadata of an account; null removes a member.
  ///
  /// - Throws: 401 when the account is not active; the validation failure when the metadata becomes too large.
  static func mergeMetadata(_ changes: JSONValue, of user: UserID, on db: any Connection) throws {
    guard case .object(let changes) = changes else { return }
    // Locked before it is read, so that concurrent changes do not overwrite each other.
    guard try lockActive(user, on: db) else { throw Failure.sessionEnded }
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

/// The account was erased during the operation. A retry does not find it any more.
struct AccountErased: Error {}

let accountColumns: SQL = """
  id, number, email, display_name, locale, time_zone, avatar_url, metadata, is_anonymous, is_discoverable, created_at,
  last_login_at, deactivated_at, \(VerificationLevel.column(of: "account.id"))
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
    verification = try VerificationLevel(row)
  }
}
