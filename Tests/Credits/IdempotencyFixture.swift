import Database
import Foundation
import Support
import Testing
import Tokens
import Web

/// Idempotent requests whose effect is a row in a table.
struct IdempotencyFixture {
  let database: any Database
  let clock: TestClock
  let idempotency: Idempotency

  init(_ testDatabase: TestDatabase, secrets: [String] = ["data key for tests 0123456789"]) async throws {
    let table = Migration("effect", "create table effect (name text not null)")
    database = try await testDatabase.open("bank", [Idempotency.migration, table])
    let clock = TestClock()
    self.clock = clock
    idempotency = Idempotency(
      database: database, keys: try #require(DataKeys(secrets)), now: { clock.now })
  }

  func once(_ call: IdempotentCall, _ effect: (@Sendable (any Connection) throws -> Void)? = nil) async throws
    -> Reply
  {
    try await idempotency.once(call) { db in
      try db.change("insert into effect (name) values ('it')")
      try effect?(db)
      return try .json(["token": UUID().uuidString], status: .created)
    }
  }

  func effects() async throws -> Int { try await database.read { try $0.rows("select name from effect").count } }
}

func idempotentCall(
  _ key: String = "secret-key", body: String = "{}", by caller: String = "alice", to route: String = "a",
  requestID: String = "r1"
) -> IdempotentCall {
  IdempotentCall(
    caller: caller, route: route, key: key, path: "/api/v1/a", content: Data(body.utf8), requestID: requestID)
}

func withIdempotency(_ engine: Engine, _ body: (IdempotencyFixture) async throws -> Void) async throws {
  try await withTestDatabase(engine) { testDatabase in
    let fixture = try await IdempotencyFixture(testDatabase)
    try await body(fixture)
    await fixture.database.close()
  }
}
