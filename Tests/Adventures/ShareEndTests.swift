import Database
import Foundation
import RestQueries
import Support
import Testing
import Wire

@testable import Adventures

/// The second in which a share ends.
@Suite struct ShareEndTests {
  @Test(arguments: engines) func itIsActiveBeforeItsEndAndNotAtIt(_ engine: Engine) async throws {
    try await withTestDatabase(engine) { testDatabase in
      let database = try await testDatabase.open(adventuresSchema)
      let start = Date(timeIntervalSince1970: 1_800_000_000)
      let (alice, bob) = (UserID.new(at: start), UserID.new(at: start))
      try await database.write { db in
        let (id, end) = (ID<Share>.new(at: start), start + 3600)
        try db.change(
          """
          insert into eta_share (id, user_id, route_data, recipients, is_active, expires_at, created_at, updated_at)
          values (\(id), \(alice), '{}', '[]', true, \(end), \(start), \(start))
          """)
        try db.change("insert into eta_recipient (share_id, user_id) values (\(id), \(bob))")
      }
      func shown(to user: UserID, after seconds: Double) async throws -> String {
        let request = RestRequest(.get, "eta_shares", query: "select=is_active")
        let caller = RestQueries.Caller(user, at: start + seconds)
        let answer = try await AdventureTables.schema.answer(request, for: caller, in: database)
        return String(decoding: answer.body, as: UTF8.self)
      }
      for seconds in [0, 3599, 3599.99] {
        for user in [alice, bob] {
          #expect(try await shown(to: user, after: seconds) == #"[{"is_active":true}]"#, "\(seconds)")
        }
      }
      for seconds in [3600, 3600.01, 7200] {
        #expect(try await shown(to: alice, after: seconds) == #"[{"is_active":false}]"#, "\(seconds)")
        #expect(try await shown(to: bob, after: seconds) == "[]", "\(seconds)")
      }
      await database.close()
    }
  }
}
