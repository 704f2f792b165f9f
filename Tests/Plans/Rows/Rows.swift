import Database
import Foundation
import Support

/// Many rows of one service, inserted by a few statements that generate them.
struct Rows: Sendable {
  let service: String
  let migrations: [Migration]
  let statements: @Sendable (RowGenerator) -> [String]

  static let all = [adventures, auth, credits, events, groups, invites, lists, timepoints]

  func insert(into testDatabase: TestDatabase, _ catalog: TableCatalog) async throws {
    let database = try await testDatabase.open(service, migrations)
    let statements = statements(RowGenerator(engine: testDatabase.engine)) + ["analyze"]
    switch testDatabase.engine {
    case .postgres:
      // As a replica, which checks no foreign keys, and without the time limit of a service's connection.
      let settings = "set search_path to \"\(service)\"; set session_replication_role = replica; "
      try await executeSQL(testDatabase.databaseURL, settings + statements.joined(separator: ";\n"))
    case .sqlite:
      let path = testDatabase.folder.appending(path: "\(service).db").path
      let unlimited = try SQLite(path: path, service: service, statementTimeout: .seconds(3600))
      try await unlimited.write { db in
        for statement in statements { try db.change(SQL(stringLiteral: statement)) }
        try catalog.add(db)
      }
      await unlimited.close()
    }
    await database.close()
  }
}

/// Expressions in the dialect of an engine, over a number `n`.
struct RowGenerator: Sendable {
  let engine: Engine

  /// A table with the column `n`, from 1 to `count`.
  func numbers(_ count: Int) -> String {
    "(with recursive s (n) as (select 1 union all select n + 1 from s where n < \(count)) select n from s) numbers"
  }

  /// The id of the `n`th row of a kind.
  ///
  /// - Parameter kind: eight hexadecimal digits.
  func id(_ n: String, _ kind: String = Kind.account) -> String {
    let text = "'\(kind)-0000-7000-8000-' || substr(cast(1000000000000 + \(n) as text), 2)"
    return engine == .postgres ? "cast(\(text) as uuid)" : text
  }

  /// The time so many seconds ago.
  func ago(_ seconds: String) -> String {
    switch engine {
    case .postgres: "date_trunc('milliseconds', now() - (\(seconds)) * interval '1 second')"
    case .sqlite: "strftime('%Y-%m-%dT%H:%M:%fZ', 'now', printf('%+d seconds', -(\(seconds))))"
    }
  }

  /// The day so many days ago.
  func day(_ days: String) -> String {
    switch engine {
    case .postgres: "to_char(now() - (\(days)) * interval '1 day', 'YYYY-MM-DD')"
    case .sqlite: "strftime('%Y-%m-%d', 'now', printf('%+d days', -(\(days))))"
    }
  }

  func bytes(_ text: String) -> String {
    engine == .postgres ? "convert_to(\(text), 'UTF8')" : "cast(\(text) as blob)"
  }

  /// Replies of the last day, as every service stores them.
  func idempotencyKeys(_ count: Int) -> String {
    """
    insert into idempotency_key
      (caller, route, key_hash, body_hash, state, claimed_at, created_at, status, content_type, reply)
    select cast(\(id("n")) as text), 'POST /route', \(bytes("'key ' || n")), \(bytes("'body'")), 'done',
      \(ago("n % 80000")), \(ago("n % 80000")), 200, 'application/json', \(bytes("'{}'"))
    from \(numbers(count))
    """
  }

  /// Messages that were sent in the last twelve days; those of more than a week ago are swept.
  func sentMessages(_ count: Int, in table: String = "outbox") -> String {
    """
    insert into \(table) (id, kind, once, user_id, created_at, give_up_at, tries, outcome, settled_at)
    select \(id("n", Kind.message)), 'mail', 'cause ' || n, \(id("n")), \(ago("n * 10")), \(ago("n * 10 - 3600")), 1,
      'done', \(ago("n * 10"))
    from \(numbers(count))
    """
  }

  /// Messages whose next try is in an hour.
  func postponedMessages(_ count: Int) -> String {
    """
    insert into outbox (id, kind, content, created_at, give_up_at, tries, due_at)
    select \(id("n", Kind.postponed)), 'mail', \(bytes("'sealed'")), \(ago("60")), \(ago("-80000")), 1, \(ago("-3600"))
    from \(numbers(count))
    """
  }

  func quotas(_ count: Int) -> String {
    """
    insert into quota (name, key_hash, began_at, taken)
    select 'quota', \(bytes("'key ' || n")), \(ago("n % 80000")), 1 from \(numbers(count))
    """
  }
}

/// The first digits of generated ids.
enum Kind {
  static let account = "00000000"
  static let session = "00000001"
  static let challenge = "00000002"
  static let message = "00000003"
  static let postponed = "00000004"
  static let operation = "00000005"
  static let group = "00000006"
  static let collection = "00000007"
  static let collectionMember = "00000008"
  static let device = "00000009"
  static let invite = "0000000a"
  static let inviteUse = "0000000b"
  static let hold = "0000000c"
  static let openHold = "0000000d"
  static let member = "0000000e"
  static let timepoint = "0000000f"
  static let storedObject = "00000010"
  static let storedFile = "00000011"
  static let discardedFile = "00000012"
  /// Later than any time: the sweep looks for the files of photos that are older than some minutes.
  static let photo = "0f000000"
}
