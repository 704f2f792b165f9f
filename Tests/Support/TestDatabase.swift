import Database
import Foundation
import Logging
import Postgres
import Web

/// The engines to test on: SQLite always, PostgreSQL when `make test` has started one (`KITH_TEST_POSTGRES`). Set
/// `KITH_TEST_ENGINES` to `sqlite` or `postgres` for one of them.
package let engines: [Engine] = {
  guard postgresURL != nil else {
    print("NOTE: KITH_TEST_POSTGRES is not set: nothing is tested on PostgreSQL. `make test` starts one.")
    return [.sqlite]
  }
  switch ProcessInfo.processInfo.environment["KITH_TEST_ENGINES"] {
  case "sqlite": return [.sqlite]
  case "postgres": return [.postgres]
  default: return [.sqlite, .postgres]
  }
}()

package let postgresURL = ProcessInfo.processInfo.environment["KITH_TEST_POSTGRES"]

/// A folder, and with PostgreSQL a database, for one test.
package struct TestDatabase: Sendable {
  package let engine: Engine
  package let folder: URL
  /// The value of `DATABASE_URL`.
  package let databaseURL: String

  /// A database that exists already.
  package init(engine: Engine, folder: URL, databaseURL: String) {
    (self.engine, self.folder, self.databaseURL) = (engine, folder, databaseURL)
  }

  package var settings: [String: String] {
    ["DATA_DIR": folder.path, "DATABASE_URL": databaseURL, "DATABASE_CONNECTIONS": "6"]
  }

  /// Opens a service's database in the same way as the service does.
  package func open(_ service: String, _ migrations: [Migration], connections: Int = 6) async throws -> any Database {
    try await open(ServiceSchema(service, migrations), connections: connections)
  }

  package func open(_ schema: ServiceSchema, connections: Int = 6) async throws -> any Database {
    let settings = Settings(settings.merging(["DATABASE_CONNECTIONS": String(connections)]) { $1 })
    return try await Dependencies(settings, logger: quiet).openDatabase(schema)
  }

  /// The number of rows in a service's database.
  ///
  /// - Parameter rows: what follows `from`: a table, and perhaps a join and a condition.
  package func count(_ rows: SQL, in service: String) async throws -> Int {
    let database = try await open(service, [])
    do {
      let found = try await database.read { db in
        try db.row("select count(*) as found from \(rows)")?.get("found", as: Int.self) ?? -1
      }
      await database.close()
      return found
    } catch {
      await database.close()
      throw error
    }
  }
}

/// A logger that discards everything.
package let quiet: Logger = {
  var logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
  logger.logLevel = .critical
  return logger
}()

/// - Parameter isMigrated: whether it has the tables of all services.
package func withTestDatabase<T>(
  _ engine: Engine, isMigrated: Bool = false, _ body: (TestDatabase) async throws -> T
) async throws -> T {
  await TestSlots.acquire()
  defer { Task { await TestSlots.release() } }
  let name = newName()
  let folder = FileManager.default.temporaryDirectory.appendingPathComponent(name)
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  // `try?`: a leftover folder does no harm.
  defer { try? FileManager.default.removeItem(at: folder) }
  guard engine == .postgres, let server = postgresURL else {
    if isMigrated { try await MigratedTemplate.shared.copy(to: folder) }
    return try await body(TestDatabase(engine: engine, folder: folder, databaseURL: folder.path + "/"))
  }
  let template = isMigrated ? try await MigratedTemplate.shared.name() : "template1"
  try await runOnServer("create database \(name) template \(template)")
  let testDatabase = TestDatabase(engine: engine, folder: folder, databaseURL: url(of: name, on: server))
  do {
    let result = try await body(testDatabase)
    try await runOnServer("drop database \(name) with (force)")
    return result
  } catch {
    try await runOnServer("drop database \(name) with (force)")
    throw error
  }
}

/// Creates a database that stays.
///
/// - Returns: its name.
func newPostgresDatabase(_ fill: (TestDatabase) async throws -> Void) async throws -> String {
  guard let server = postgresURL else { throw Unexpected(reply: "PostgreSQL is not there") }
  let name = newName()
  try await runOnServer("create database \(name)")
  try await fill(
    TestDatabase(
      engine: .postgres, folder: FileManager.default.temporaryDirectory, databaseURL: url(of: name, on: server)))
  return name
}

/// Creates a folder for databases that stays.
func newSQLiteFolder(_ fill: (TestDatabase) async throws -> Void) async throws -> URL {
  let folder = FileManager.default.temporaryDirectory.appending(path: newName())
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  try await fill(TestDatabase(engine: .sqlite, folder: folder, databaseURL: folder.path + "/"))
  return folder
}

private func newName() -> String {
  "kith_test_" + UUID().uuidString.replacingOccurrences(of: "-", with: "").lowercased()
}

private func url(of database: String, on server: String) -> String {
  String(server[..<(server.lastIndex(of: "/") ?? server.endIndex)]) + "/" + database
}

/// Runs a statement that cannot run in a transaction.
private func runOnServer(_ statement: String) async throws {
  guard let postgresURL else { return }
  try await executeSQL(postgresURL, statement)
}

/// Limits how many tests run at a time, as each has its own servers, threads and connections, on two cores.
private actor TestSlots {
  private static let shared = TestSlots()
  private var used = 0
  private var waiting: [CheckedContinuation<Void, Never>] = []
  private static let slotsMax = 4

  static func acquire() async { await shared.acquire() }
  static func release() async { await shared.release() }

  private func acquire() async {
    if used < Self.slotsMax {
      used += 1
    } else {
      await withCheckedContinuation { waiting.append($0) }
    }
  }

  private func release() {
    if waiting.isEmpty { used -= 1 } else { waiting.removeFirst().resume() }
  }
}
