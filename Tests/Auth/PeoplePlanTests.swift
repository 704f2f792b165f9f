import Database
import Foundation
import Support
import Testing
import Wire

@testable import Auth

/// Names for a response are looked up by index, whoever has an account besides.
@Suite struct PeoplePlanTests {
  @Test(arguments: engines) func noLookUpReadsAllAccounts(engine: Engine) async throws {
    try await withTestDatabase(engine) { testDatabase in
      let database = try await testDatabase.open("auth", authMigrations)
      let now = Date()
      let users = (0..<5000).map { _ in UserID.new(at: now) }
      try await database.write { db in
        for (number, user) in users.enumerated() { try insert(user, "+4790\(100_000 + number)", at: now, on: db) }
        try db.change("analyze")
      }
      let plans = RecordedPlans()
      let found = try await database.read { db in
        let planned = PlannedConnection(db, engine, plans, mayScan: { _ in true })
        return try PeopleStore.rows(
          Array(users[10..<20]), ["+4790100015", "+4790100100", "+4790100101"], on: planned
        ).map { try $0.get("id", as: UserID.self) }
      }
      // One of the numbers is of a user who is found by id too, one is of a user who is not discoverable.
      #expect(Set(found) == Set(users[10..<20] + [users[100]]) && found.count == 11)
      let plan = try #require(plans.all.values.first)
      #expect(!plan.contains { $0.contains("Seq Scan") || $0.hasPrefix("SCAN ") && isTable($0) }, "\(plan)")
      await database.close()
    }
  }

  private func isTable(_ step: String) -> Bool {
    ["account", "a", "owner", "identity", "i"].contains(step.split(separator: " ").dropFirst().first ?? "")
  }

  /// Everybody is discoverable but the user of one number.
  private func insert(_ user: UserID, _ phone: String, at now: Date, on db: any Connection) throws {
    let isDiscoverable = !phone.hasSuffix("101")
    try db.change(
      """
      insert into account (id, created_at, is_discoverable) values (\(user), \(now), \(isDiscoverable))
      """)
    try db.change(
      """
      insert into identity (issuer, subject, account_id, is_email_verified, is_private_email, created_at)
      values ('phone', \(phone), \(user), false, false, \(now))
      """)
  }
}
