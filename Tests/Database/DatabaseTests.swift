import Database
import Foundation
import Support
import Testing
import Wire

private struct Stop: Error {}

/// The behaviour that SQLite and PostgreSQL share, tested on both.
@Suite struct DatabaseTests {
  static let schema = [
    Migration(
      "tables",
      """
      create table owner (id uuid primary key, name text not null);
      create table item (
        id uuid primary key,
        owner_id uuid not null references owner (id),
        name text not null,
        count bigint not null default 0,
        photo bytea,
        is_hidden boolean not null default false,
        created_at timestamptz,
        constraint item_count_positive check (count >= 0)
      );
      create unique index item_name_of_owner on item (owner_id, name);
      create unique index owner_name on owner (name) where name <> 'anybody';
      create table doctor (name text primary key, on_call boolean not null);
      """),
    Migration(
      "refusal",
      sqlite: """
        create trigger owner_stays before delete on owner begin select raise(abort, 'owners stay'); end
        """,
      postgres: """
        create function owner_stays() returns trigger language plpgsql as
          $$ begin raise exception 'owners stay'; end $$;
        create trigger owner_stays before delete on owner for each row execute function owner_stays()
        """),
  ]

  private func withDatabase(
    _ engine: Engine, connections: Int = 6, _ body: (any Database) async throws -> Void
  ) async throws {
    try await withTestDatabase(engine) { testDatabase in
      let database = try await testDatabase.open("test", Self.schema, connections: connections)
      try await body(database)
      await database.close()
    }
  }

  @Test(arguments: engines) func everyKindOfValueComesBackAsItWent(engine: Engine) async throws {
    try await withDatabase(engine) { database in
      let (owner, item) = (UserID.new(at: Date()), SessionID.new(at: Date()))
      let at = Date(timeIntervalSince1970: 1_763_690_000.123)
      let bytes: [UInt8] = Array(0...255)
      let name = "Zoë's 🎈 list; -- $1 \\ ' \""
      let none: String? = nil
      let row = try await database.write { db in
        try db.change("insert into owner (id, name) values (\(owner), \("alice"))")
        try db.change(
          """
          insert into item (id, owner_id, name, count, photo, is_hidden, created_at)
          values (\(item), \(owner), \(name), \(Int.max), \(bytes), \(true), \(at))
          """)
        return try db.row("select *, \(none) as empty from item where is_hidden = \(true) and created_at <= \(at)")
      }
      let found = try #require(row)
      #expect(try found.get("id") == item)
      #expect(try found.get("owner_id") == owner)
      #expect(try found.get("name") == name)
      #expect(try found.get("count") == Int.max)
      #expect(try found.get("photo") == bytes)
      #expect(try found.get("is_hidden") == true)
      #expect(try found.get("created_at") == at)
      #expect(try found.optional("empty", as: String.self) == nil)
      #expect(throws: DatabaseFailure.unreadable(column: "name")) { try found.get("name", as: Int.self) }
      #expect(throws: DatabaseFailure.unreadable(column: "nowhere")) { try found.get("nowhere", as: Int.self) }
    }
  }

  @Test(arguments: engines) func listsBecomeBindings(engine: Engine) async throws {
    try await withDatabase(engine) { database in
      let names = ["alice", "bob", "carol"]
      let (some, none) = try await database.write { db in
        for name in names { try db.change("insert into owner (id, name) values (\(UserID.new(at: Date())), \(name))") }
        return (
          try db.rows("select name from owner where name in (\(list: ["bob", "carol", "dave"])) order by name"),
          try db.rows("select name from owner where name in (\(list: [String]()))")
        )
      }
      #expect(try some.map { try $0.get("name", as: String.self) } == ["bob", "carol"])
      #expect(none.isEmpty)
    }
  }

  @Test(arguments: engines) func constraintsAreKnownByName(engine: Engine) async throws {
    try await withDatabase(engine) { database in
      let (alice, first) = (UserID.new(at: Date()), UserID.new(at: Date()))
      try await database.write { db in
        try db.change("insert into owner (id, name) values (\(alice), 'alice')")
        try db.change("insert into item (id, owner_id, name) values (\(first), \(alice), 'ball')")
      }
      func refusal(_ statement: SQL) async -> DatabaseFailure? {
        do {
          _ = try await database.write { try $0.change(statement) }
          return nil
        } catch { return error as? DatabaseFailure }
      }
      let other = UserID.new(at: Date())
      #expect(
        await refusal("insert into item (id, owner_id, name) values (\(other), \(alice), 'ball')")
          == .unique("item_name_of_owner"))
      #expect(await refusal("insert into owner (id, name) values (\(other), 'alice')") == .unique("owner_name"))
      #expect(await refusal("update item set count = -1") == .check("item_count_positive"))
      #expect(await refusal("insert into item (id, owner_id, name) values (\(other), \(other), 'x')") == .foreignKey)
      #expect(await refusal("delete from owner") == .refused("owners stay"))
      #expect(await refusal("insert into owner (id, name) values (\(other), 'bob')") == nil)
    }
  }

  @Test(arguments: engines) func aThrownErrorLeavesNothing(engine: Engine) async throws {
    try await withDatabase(engine) { database in
      await #expect(throws: Stop.self) {
        try await database.write { db in
          try db.change("insert into owner (id, name) values (\(UserID.new(at: Date())), 'alice')")
          #expect(try db.rows("select * from owner").count == 1)
          throw Stop()
        }
      }
      let left = try await database.read { try $0.rows("select * from owner").count }
      #expect(left == 0)
    }
  }

  @Test(arguments: engines) func aReadSeesOneSnapshot(engine: Engine) async throws {
    try await withDatabase(engine) { database in
      let (inside, written) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      async let counts = database.read { db in
        let before = try db.rows("select * from owner").count
        inside.signal()
        guard written.wait(timeout: .now() + 300) == .success else { throw DatabaseFailure.other("no write came") }
        return (before, try db.rows("select * from owner").count)
      }
      await Task.detached { _ = inside.wait(timeout: .now() + 300) }.value
      try await database.write {
        try $0.change("insert into owner (id, name) values (\(UserID.new(at: Date())), 'al')")
      }
      written.signal()
      #expect(try await counts == (0, 0))
      #expect(try await database.read { try $0.rows("select * from owner").count } == 1)
    }
  }

  @Test(arguments: engines) func conditionalUpdatesDecideRaces(engine: Engine) async throws {
    try await withDatabase(engine) { database in
      try await database.write { db in
        let owner = UserID.new(at: Date())
        try db.change("insert into owner (id, name) values (\(owner), 'alice')")
        try db.change("insert into item (id, owner_id, name, count) values (\(owner), \(owner), 'seats', 10)")
      }
      let taken = try await atOnce(50) { _ in
        try await database.write { try $0.change("update item set count = count - 1 where count >= 1") }
      }
      #expect(taken.count { $0 == 1 } == 10)
      let left = try await database.read { try $0.row("select count from item")?.get("count", as: Int.self) }
      #expect(left == 0)
    }
  }

  @Test(arguments: engines) func rulesAcrossRowsHoldUnderSerializable(engine: Engine) async throws {
    try await withDatabase(engine) { database in
      try await database.write { db in
        for name in ["alice", "bob"] { try db.change("insert into doctor (name, on_call) values (\(name), \(true))") }
      }
      // A doctor may go off call while another stays on call. Under a weaker isolation level both would go.
      let left = try await atOnce(2) { index in
        try await database.write(.serializable) { db in
          let onCall = try db.rows("select name from doctor where on_call = \(true)").count
          Thread.sleep(forTimeInterval: 0.05)
          guard onCall > 1 else { return false }
          return try db.change(
            "update doctor set on_call = \(false) where name = \(index == 0 ? "alice" : "bob")") == 1
        }
      }
      #expect(left.count { $0 } == 1)
    }
  }

  @Test(arguments: engines) func textWithNULIsRefused(engine: Engine) async throws {
    try await withDatabase(engine) { database in
      await #expect(throws: DatabaseFailure.nulInText) {
        try await database.write { try $0.change("insert into doctor (name, on_call) values (\("a\0b"), \(true))") }
      }
    }
  }

  @Test(arguments: engines) func twoHundredCallersShareEightConnections(engine: Engine) async throws {
    try await withDatabase(engine, connections: 8) { database in
      let sums = try await atOnce(200) { index in
        try await database.write { db in
          try db.change("insert into owner (id, name) values (\(UserID.new(at: Date())), \("owner \(index)"))")
        }
        return try await database.read { try $0.row("select count(*) as n from owner")?.get("n", as: Int.self) ?? 0 }
      }
      #expect(sums.count == 200)
      #expect(sums.max() == 200)
    }
  }

  @Test(arguments: engines) func aChangedMigrationStopsTheStart(engine: Engine) async throws {
    try await withTestDatabase(engine) { testDatabase in
      try await testDatabase.open("test", [Migration("one", "create table a (x text)")]).close()
      // The same list again, and a longer one, are fine; so is an older program on a newer schema.
      let longer = [Migration("one", "create table a (x text)"), Migration("two", "create table b (x text)")]
      try await testDatabase.open("test", longer).close()
      try await testDatabase.open("test", [longer[0]]).close()
      await #expect(throws: DatabaseFailure.unusable("migration one was changed after it had been applied")) {
        _ = try await testDatabase.open("test", [Migration("one", "create table a (y text)")])
      }
    }
  }

  @Test(arguments: engines) func aMigrationThatFailsLeavesNothing(engine: Engine) async throws {
    try await withTestDatabase(engine) { testDatabase in
      let broken = Migration("one", "create table a (x text); create table a (x text)")
      await #expect(throws: DatabaseFailure.self) { _ = try await testDatabase.open("test", [broken]) }
      let database = try await testDatabase.open("test", [Migration("one", "create table a (x text)")])
      #expect(try await database.read { try $0.rows("select * from a").isEmpty })
      await database.close()
    }
  }
}
