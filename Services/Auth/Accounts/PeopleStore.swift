import Database
import Foundation
import Wire

/// Who people are, for other services: active accounts only.
struct PeopleStore: Sendable {
  let database: any Database

  /// Those of `ids`, and those behind `phones` who want to be found by them, that are there, in one query. Who has one of
  /// `phones` is told with it.
  func people(_ ids: [UserID], phones: [String] = []) async throws -> [Person] {
    try await database.read { db in
      try db.rows(
        """
        select \(personColumns), coalesce(
          (select min(subject) from identity i
            where i.account_id = a.id and i.issuer = 'phone' and i.subject in (\(list: phones))), \(anyPhone)) as phone
        from account a where a.deactivated_at is null and (a.id in (\(list: ids)) or a.is_discoverable and a.id in (
          select account_id from identity where issuer = 'phone' and subject in (\(list: phones))))
        """
      ).map(Person.init)
    }
  }

  /// By UUID, number, phone number in E.164, or an e-mail address that is theirs.
  func person(named identifier: String) async throws -> Person? {
    try await database.read { db in
      try Self.row(named: identifier.trimmingCharacters(in: .whitespacesAndNewlines), on: db).map(Person.init)
    }
  }

  /// Whoever has shown that an e-mail address is theirs.
  func person(reading email: EmailAddress) async throws -> Person? {
    try await database.read { db in
      guard try !AccountStore.isOnlyClaimed(email.canonical, on: db) else { return nil }
      return try Self.row(Identity.emailIssuer, email.canonical, on: db).map(Person.init)
    }
  }

  private static func row(named identifier: String, on db: any Connection) throws -> Row? {
    if let id = UserID(identifier) {
      return try db.row("\(selectPerson) where a.deactivated_at is null and a.id = \(id)")
    }
    if identifier.hasPrefix("+") { return try row(Identity.phoneIssuer, identifier, on: db) }
    if let email = EmailAddress(identifier) { return try row(Identity.emailIssuer, email.canonical, on: db) }
    guard let number = Int(identifier) else { return nil }
    return try db.row("\(selectPerson) where a.deactivated_at is null and a.number = \(number)")
  }

  private static func row(_ issuer: String, _ subject: String, on db: any Connection) throws -> Row? {
    try db.row(
      """
      \(selectPerson) where a.deactivated_at is null
        and a.id = (select account_id from identity where issuer = \(issuer) and subject = \(subject))
      """)
  }
}

private let personColumns: SQL = "a.id, a.number, a.display_name, a.email, a.locale, a.time_zone"
private let anyPhone: SQL = "(select min(subject) from identity i where i.account_id = a.id and i.issuer = 'phone')"
private let selectPerson: SQL = "select \(personColumns), \(anyPhone) as phone from account a"

extension Person {
  fileprivate init(_ row: Row) throws {
    self.init(
      id: try row.get("id"), number: try row.get("number"), name: try row.optional("display_name"),
      email: try row.optional("email"), phone: try row.optional("phone"), locale: try row.optional("locale"),
      timeZone: try row.optional("time_zone"))
  }
}
