import Database
import Foundation
import Support
import Testing

@Suite struct SQLiteTests {
  @Test func everyConnectionIsAsSafeAsItSays() async throws {
    try await withTestDatabase(.sqlite) { testDatabase in
      let database = try await testDatabase.open("test", [])
      func setting(_ name: SQL, _ column: String) async throws -> Int? {
        try await database.write { try $0.row(name)?.get(column) }
      }
      #expect(try await setting("pragma synchronous", "synchronous") == 2)  // FULL
      #expect(try await setting("pragma foreign_keys", "foreign_keys") == 1)
      #expect(try await setting("pragma secure_delete", "secure_delete") == 1)
      #expect(try await setting("pragma busy_timeout", "timeout") == 5000)
      #expect(try await setting("pragma temp_store", "temp_store") == 2)  // MEMORY
      let mode = try await database.write { try $0.row("pragma journal_mode")?.get("journal_mode", as: String.self) }
      #expect(mode == "wal")
      let reader = try await database.read { try $0.row("pragma foreign_keys")?.get("foreign_keys", as: Int.self) }
      #expect(reader == 1)
      await database.close()
    }
  }

  @Test func aFileThatIsNoDatabaseIsNamed() async throws {
    try await withTestDatabase(.sqlite) { testDatabase in
      let path = testDatabase.folder.appendingPathComponent("test.db").path
      try Data(repeating: 0x41, count: 4096).write(to: URL(fileURLWithPath: path))
      await #expect(throws: DatabaseFailure.unusable("\(path): is not a SQLite database")) {
        _ = try await testDatabase.open("test", [])
      }
    }
  }

  @Test func indexesThatCouldNotBeToldApartStopTheStart() async throws {
    try await withTestDatabase(.sqlite) { testDatabase in
      let ambiguous = Migration(
        "one",
        """
        create table a (x text, y text);
        create unique index a_x on a (x) where y = '1'; create unique index a_x_too on a (x) where y = '2'
        """)
      await #expect(throws: DatabaseFailure.self) { _ = try await testDatabase.open("test", [ambiguous]) }
    }
  }

  @Test func addressesSayWhereTheFileIs() throws {
    #expect(try DatabaseURL("sqlite:///kith.db", service: "auth") == .sqlite(path: "kith.db"))
    #expect(try DatabaseURL("sqlite+aiosqlite:///./kith.db", service: "auth") == .sqlite(path: "./kith.db"))
    #expect(try DatabaseURL("sqlite:////var/kith.db", service: "auth") == .sqlite(path: "/var/kith.db"))
    #expect(try DatabaseURL("sqlite:////var/kith/", service: "auth") == .sqlite(path: "/var/kith/auth.db"))
    #expect(try DatabaseURL("data/", service: "auth") == .sqlite(path: "data/auth.db"))
    #expect(try DatabaseURL("postgres+asyncpg://u@h/n", service: "auth") == .postgres(url: "postgresql://u@h/n"))
    for wrong in ["kith.db", "mysql://h/n", "sqlite://", "sqlite:///", ""] {
      #expect(throws: DatabaseFailure.self) { try DatabaseURL(wrong, service: "auth") }
    }
  }
}
