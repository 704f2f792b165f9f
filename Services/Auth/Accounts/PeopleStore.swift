import Database
import Foundation
import Wire

/// Names and contact data of users, for other services. Active accounts only.
struct PeopleStore: Sendable {
  let database: any Database
  let policy: VerificationPolicy

  /// The users with the `ids`, and the discoverable users with the `phones`, in one query. A user with one of the
  /// `phones` is returned with that one.
  func people(_ ids: [UserID], phones: [String] = []) async throws -> [Person] {
    try await database.readAllowingStale { db in
      try Self.rows(ids, phones, on: db).map { try Person($0, under: policy) }
    }
  }

  /// Both halves of the union use an index; one condition with `or` scans every account.
  static func rows(_ ids: [UserID], _ phones: [String], on db: any Connection) throws -> [Row] {
    try db.rows(
      """
      select \(personColumns), coalesce(
        (select min(subject) from identity i
          where i.account_id = a.id and i.issuer = 'phone' and i.subject in (\(list: phones))), \(anyPhone)) as phone
      from account a where a.deactivated_at is null and a.id in (
        select id from account where id in (\(list: ids))
        union
        select owner.id from identity join account owner on owner.id = identity.account_id
        where identity.issuer = 'phone' and identity.subject in (\(list: phones)) and owner.is_discoverable)
      """)
  }

  /// By UUID, number, or an e-mail address that the user has verified; not by phone number.
  func person(named identifier: String) async throws -> Person? {
    try await database.read { db in
      try row(named: identifier.trimmingCharacters(in: .whitespacesAndNewlines), on: db)
        .map { try Person($0, under: policy) }
    }
  }

  private func row(named identifier: String, on db: any Connection) throws -> Row? {
    if let id = UserID(identifier) {
      return try db.row("\(selectPerson) where a.deactivated_at is null and a.id = \(id)")
    }
    if let email = EmailAddress(identifier) { return try owner(of: email, on: db) }
    guard !identifier.hasPrefix("+"), let number = Int(identifier) else { return nil }
    return try db.row("\(selectPerson) where a.deactivated_at is null and a.number = \(number)")
  }

  private func owner(of email: EmailAddress, on db: any Connection) throws -> Row? {
    try db.row(
      """
      \(selectPerson) where a.deactivated_at is null and a.id = (select account_id from identity
        where issuer = \(Identity.emailIssuer) and subject = \(email.canonical)
          and (is_email_verified or \(policy.acceptsClaimedEmail)))
      """)
  }
}

private let personColumns: SQL = """
  a.id, a.number, a.display_name, a.email, a.locale, a.time_zone, \(VerificationLevel.column(of: "a.id"))
  """
private let anyPhone: SQL = "(select min(subject) from identity i where i.account_id = a.id and i.issuer = 'phone')"
private let selectPerson: SQL = "select \(personColumns), \(anyPhone) as phone from account a"

extension Person {
  fileprivate init(_ row: Row, under policy: VerificationPolicy) throws {
    self.init(
      id: try row.get("id"), number: try row.get("number"), name: try row.optional("display_name"),
      email: try row.optional("email"), phone: try row.optional("phone"), locale: try row.optional("locale"),
      timeZone: try row.optional("time_zone"), isProven: policy.isProven(try VerificationLevel(row)))
  }
}
