import Database
import Foundation
import Wire

/// All data of the auth service about one user.
struct PersonalDataExport: Sendable {
  let user: ExportedUser
  let identities: [ExportedIdentity]
  let sessions: [ExportedSession]
  let unlinked: [ExportedUnlinkedIdentity]

  /// nil when the user does not exist or is not active.
  init?(of user: UserID, on db: any Connection) throws {
    let account = try db.row(
      """
      select id, number, email, display_name, locale, time_zone, avatar_url, metadata, is_anonymous, is_discoverable,
        created_at, last_login_at,
        (select changed_at from password p where p.account_id = account.id) as password_changed_at
      from account where id = \(user) and deactivated_at is null
      """)
    guard let account else { return nil }
    self.user = try ExportedUser(account)
    identities = try db.rows(
      """
      select issuer, subject, email, is_email_verified, is_private_email, created_at from identity
      where account_id = \(user) order by created_at, issuer
      """
    ).map(ExportedIdentity.init)
    sessions = try db.rows(
      """
      select id, door, device, opened_at, last_seen_at, ended_at, end_reason from session
      where account_id = \(user) order by opened_at, id
      """
    ).map(ExportedSession.init)
    unlinked = try db.rows(
      "select issuer, subject, unlinked_at from unlinked where account_id = \(user) order by unlinked_at"
    ).map(ExportedUnlinkedIdentity.init)
  }
}

/// The account of the user.
struct ExportedUser: Encodable, Sendable {
  let id: UserID
  let number: Int
  @NullCodable var email: String?
  @NullCodable var display_name: String?
  @NullCodable var locale: String?
  @NullCodable var time_zone: String?
  @NullCodable var avatar_url: String?
  let metadata: JSONValue
  let is_anonymous: Bool
  let is_discoverable: Bool
  @NullCodable var password_changed_at: Date?
  let created_at: Date
  @NullCodable var last_login_at: Date?
  let is_active = true

  fileprivate init(_ row: Row) throws {
    id = try row.get("id")
    number = try row.get("number")
    _email = NullCodable(wrappedValue: try row.optional("email"))
    _display_name = NullCodable(wrappedValue: try row.optional("display_name"))
    _locale = NullCodable(wrappedValue: try row.optional("locale"))
    _time_zone = NullCodable(wrappedValue: try row.optional("time_zone"))
    _avatar_url = NullCodable(wrappedValue: try row.optional("avatar_url"))
    let text = try row.optional("metadata", as: String.self)
    metadata = try text.map { try JSON.decode(JSONValue.self, from: Data($0.utf8)) } ?? .object([:])
    is_anonymous = try row.get("is_anonymous")
    is_discoverable = try row.get("is_discoverable")
    _password_changed_at = NullCodable(wrappedValue: try row.optional("password_changed_at"))
    created_at = try row.get("created_at")
    _last_login_at = NullCodable(wrappedValue: try row.optional("last_login_at"))
  }
}

/// An identity that is linked to the account.
struct ExportedIdentity: Encodable, Sendable {
  let issuer: String
  let subject: String
  @NullCodable var email: String?
  let email_verified: Bool
  let private_email: Bool
  let created_at: Date

  fileprivate init(_ row: Row) throws {
    issuer = try row.get("issuer")
    subject = try row.get("subject")
    _email = NullCodable(wrappedValue: try row.optional("email"))
    email_verified = try row.get("is_email_verified")
    private_email = try row.get("is_private_email")
    created_at = try row.get("created_at")
  }
}

/// A session of the user.
struct ExportedSession: Encodable, Sendable {
  let id: SessionID
  let door: String
  @NullCodable var device: String?
  let opened_at: Date
  @NullCodable var last_seen_at: Date?
  @NullCodable var ended_at: Date?
  @NullCodable var end_reason: String?

  fileprivate init(_ row: Row) throws {
    id = try row.get("id")
    door = try row.get("door")
    _device = NullCodable(wrappedValue: try row.optional("device"))
    opened_at = try row.get("opened_at")
    _last_seen_at = NullCodable(wrappedValue: try row.optional("last_seen_at"))
    _ended_at = NullCodable(wrappedValue: try row.optional("ended_at"))
    _end_reason = NullCodable(wrappedValue: try row.optional("end_reason"))
  }
}

/// A subject of an external issuer that the user has unlinked.
struct ExportedUnlinkedIdentity: Encodable, Sendable {
  let issuer: String
  let subject: String
  let unlinked_at: Date

  fileprivate init(_ row: Row) throws {
    issuer = try row.get("issuer")
    subject = try row.get("subject")
    unlinked_at = try row.get("unlinked_at")
  }
}
