import Database
import Foundation
import Support
import Testing

/// Erased means: in no table and in no file any more.
@Suite struct ForgottenTests {
  private static let secrets = [
    "alice.liddell@example.com", "Alice.Liddell", "+4790123456", "4790123456", "Liddell", "iPhone of",
    "avatar-of-alice",
  ]

  /// An account that has left traces wherever one can: a number, an address, mails, codes, a profile, keyed calls.
  private func live(_ doors: Doors) async throws -> Browser {
    let gateway = doors.gateway.with(["User-Agent": "iPhone of Liddell", "Idempotency-Key": "a key"])
    let signedUp = try await gateway.post(
      "/api/v1/auth/sign_up",
      ["email": "alice.liddell@example.com", "password": "correct horse", "name": "Alice.Liddell"])
    let alice = gateway.bearing(signedUp.string("token"))
    _ = try await doors.letter(to: "alice.liddell@example.com")
    _ = try await alice.post("/api/v1/auth/identities/phone", ["phone_number": "+4790123456"])
    let code = try await doors.code(texted: "+4790123456")
    let added = try await alice.post(
      "/api/v1/auth/identities/phone/confirm", ["phone_number": "+4790123456", "code": code])
    #expect(added.status == 200)
    _ = try await alice.send(
      .PATCH, "/api/v1/users/profile", json: ["avatar_url": "https://example.com/avatar-of-alice"])
    _ = try await alice.send(.PUT, "/auth/v1/user", json: ["data": ["nick": "Liddell"]])
    _ = try await alice.get("/api/v1/credits/balance")
    // What is still to be sent when the account goes.
    doors.twilio.next(.answers(status: 503, body: ""), times: 100)
    _ = try await doors.gateway.post("/api/auth/request-verification", ["phone_number": "+4790123456"])
    return alice
  }

  private func erase(_ doors: Doors, _ alice: Browser) async throws {
    #expect(try await alice.delete("/api/v1/auth/account").status == 200)
    try await eventually { try await doors.count("erasure where finished_at is not null") == 1 }
    // The text to a number that nobody has asked for by name lapses by itself.
    doors.stack.clock.advance(by: .seconds(90_000))
    try await eventually {
      doors.stack.clock.advance(by: .seconds(600))
      return try await doors.count("outbox where due_at is not null") == 0
    }
  }

  @Test func onSQLiteNoByteOfItIsInTheDataFolder() async throws {
    try await withDoors(.sqlite, ["ACCOUNT_ERASE_AFTER_DAYS": "0"]) { doors in
      let alice = try await live(doors)
      #expect(try found(in: doors.stack.place.folder).contains("alice.liddell@example.com"))
      try await erase(doors, alice)
      // What the text outbox wiped after the erasure is in the log until it is written back.
      let database = try await doors.stack.place.open("auth", [])
      try await eventually { do { try await database.scrub(); return true } catch { return false } }
      await database.close()
      #expect(try found(in: doors.stack.place.folder) == [])
    }
  }

  @Test(.enabled(if: engines.contains(.postgres))) func onPostgreSQLNoRowHoldsIt() async throws {
    try await withDoors(.postgres, ["ACCOUNT_ERASE_AFTER_DAYS": "0"]) { doors in
      let alice = try await live(doors)
      #expect(try await foundInRows(doors).contains("alice.liddell@example.com"))
      try await erase(doors, alice)
      #expect(try await foundInRows(doors) == [])
    }
  }

  private func found(in folder: URL) throws -> [String] {
    let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
    let bytes = files.map { (try? Data(contentsOf: folder.appending(path: $0))) ?? Data() }
    return Self.secrets.filter { secret in bytes.contains { $0.range(of: Data(secret.utf8)) != nil } }
  }

  private func foundInRows(_ doors: Doors) async throws -> [String] {
    var found: Set<String> = []
    for service in ["auth", "credits"] {
      let database = try await doors.stack.place.open(service, [])
      let tables = try await database.read { db in
        try db.rows(
          "select table_name from information_schema.tables where table_schema = current_schema() and table_type = 'BASE TABLE'"
        ).map { try $0.get("table_name", as: String.self) }
      }
      #expect(tables.count > 3)
      for table in tables {
        let name = SQL(stringLiteral: "\"\(table)\"")
        let rows = try await database.read { db in
          try db.rows("select cast(t as text) as whole from \(name) t").map { try $0.get("whole", as: String.self) }
        }
        for secret in Self.secrets where rows.contains(where: { $0.contains(secret) }) { found.insert(secret) }
      }
      await database.close()
    }
    return found.sorted()
  }
}
