import Database
import Foundation
import Wire

/// What auth keeps about one user, all of it.
struct ExportStore: Sendable {
  let database: any Database

  struct Kept: Sendable {
    let user: ExportedUser
    let identities: [ExportedIdentity]
    let sessions: [ExportedSession]
  }

  /// nil when there is no such active user.
  func everything(about user: UserID) async throws -> Kept? {
    try await database.read { db in
      let account = try db.row(
        """
        select id, email, display_name, locale, time_zone, avatar_url, created_at, last_login_at from account
        where id = \(user) and deactivated_at is null
        """)
      guard let account else { return nil }
      return Kept(
        user: try ExportedUser(account),
        identities: try db.rows(
          """
          select issuer, subject, email, is_email_verified, created_at from identity
          where account_id = \(user) order by created_at, issuer
          """
        ).map(ExportedIdentity.init),
        sessions: try db.rows(
          "select id, opened_at, ended_at from session where account_id = \(user) order by opened_at, id"
        ).map(ExportedSession.init))
    }
  }
}

struct ExportedUser: Encodable, Sendable {
  let id: UserID
  @OrNull var email: String?
  @OrNull var display_name: String?
  @OrNull var locale: String?
  @OrNull var time_zone: String?
  @OrNull var avatar_url: String?
  let created_at: Date
  @OrNull var last_login_at: Date?
  let is_active = true

  fileprivate init(_ row: Row) throws {
    id = try row.get("id")
    _email = OrNull(wrappedValue: try row.optional("email"))
    _display_name = OrNull(wrappedValue: try row.optional("display_name"))
    _locale = OrNull(wrappedValue: try row.optional("locale"))
    _time_zone = OrNull(wrappedValue: try row.optional("time_zone"))
    _avatar_url = OrNull(wrappedValue: try row.optional("avatar_url"))
    created_at = try row.get("created_at")
    _last_login_at = OrNull(wrappedValue: try row.optional("last_login_at"))
  }
}

struct ExportedIdentity: Encodable, Sendable {
  let issuer: String
  let subject: String
  @OrNull var email: String?
  let email_verified: Bool
  let created_at: Date

  fileprivate init(_ row: Row) throws {
    issuer = try row.get("issuer")
    subject = try row.get("subject")
    _email = OrNull(wrappedValue: try row.optional("email"))
    email_verified = try row.get("is_email_verified")
    created_at = try row.get("created_at")
  }
}

struct ExportedSession: Encodable, Sendable {
  let id: SessionID
  let opened_at: Date
  @OrNull var ended_at: Date?

  fileprivate init(_ row: Row) throws {
    id = try row.get("id")
    opened_at = try row.get("opened_at")
    _ended_at = OrNull(wrappedValue: try row.optional("ended_at"))
  }
}
