import Database
import Foundation
import Wire

/// Who people are, for other services: active accounts only.
struct PeopleStore: Sendable {
  let database: any Database
  let rule: ProofRule

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
      ).map { try Person($0, under: rule) }
    }
  }

  /// By UUID, number, or an e-mail address that they have proven; never by a phone number.
  func person(named identifier: String) async throws -> Person? {
    try await database.read { db in
      try row(named: identifier.trimmingCharacters(in: .whitespacesAndNewlines), on: db)
        .map { try Person($0, under: rule) }
    }
  }

  /// Whoever has shown that an e-mail address is theirs.
  func person(reading email: EmailAddress) async throws -> Person? {
    try await database.read { db in
      try Self.reader(of: email, countingClaims: false, on: db).map { try Person($0, under: rule) }
    }
  }

  private func row(named identifier: String, on db: any Connection) throws -> Row? {
    if let id = UserID(identifier) {
      return try db.row("\(selectPerson) where a.deactivated_at is null and a.id = \(id)")
    }
    if let email = EmailAddress(identifier) {
      return try Self.reader(of: email, countingClaims: rule.countsClaims, on: db)
    }
    guard !identifier.hasPrefix("+"), let number = Int(identifier) else { return nil }
    return try db.row("\(selectPerson) where a.deactivated_at is null and a.number = \(number)")
  }

  private static func reader(
    of email: EmailAddress, countingClaims: Bool, on db: any Connection
  ) throws -> Row? {
    try db.row(
      """
      \(selectPerson) where a.deactivated_at is null and a.id = (select account_id from identity
        where issuer = \(Identity.emailIssuer) and subject = \(email.canonical)
          and (is_email_verified or \(countingClaims)))
      """)
  }
}

private let personColumns: SQL = """
  a.id, a.number, a.display_name, a.email, a.locale, a.time_zone, \(Proof.column(of: "a.id"))
  """
private let anyPhone: SQL = "(select min(subject) from identity i where i.account_id = a.id and i.issuer = 'phone')"
private let selectPerson: SQL = "select \(personColumns), \(anyPhone) as phone from account a"

extension Person {
  fileprivate init(_ row: Row, under rule: ProofRule) throws {
    self.init(
      id: try row.get("id"), number: try row.get("number"), name: try row.optional("display_name"),
      email: try row.optional("email"), phone: try row.optional("phone"), locale: try row.optional("locale"),
      timeZone: try row.optional("time_zone"), isProven: rule.isProven(try Proof(row)))
  }
}
