import Database
import Foundation
import Logging
import Postgres
import Web

/// The engines to test on: SQLite always, PostgreSQL when `make test` has started one (`KITH_TEST_POSTGRES`).
package let engines: [Engine] = {
  guard postgresURL == nil else { return [.sqlite, .postgres] }
  print("NOTE: KITH_TEST_POSTGRES is not set: nothing is tested on PostgreSQL. `make test` starts one.")
  return [.sqlite]
}()

package let postgresURL = ProcessInfo.processInfo.environment["KITH_TEST_POSTGRES"]

/// A folder, and with PostgreSQL a database, that are one test's own.
package struct Place: Sendable {
  package let engine: Engine
  package let folder: URL
  /// What `DATABASE_URL` has to be.
  package let databaseURL: String

  package var settings: [String: String] {
    ["DATA_DIR": folder.path, "DATABASE_URL": databaseURL, "DATABASE_CONNECTIONS": "6"]
  }

  /// A service's database in this place, as the service itself opens it.
  package func open(_ service: String, _ migrations: [Migration], connections: Int = 6) async throws -> any Database {
    let settings = Settings(settings.merging(["DATABASE_CONNECTIONS": String(connections)]) { $1 })
    return try await Surroundings(settings, logger: quiet).openDatabase(for: service, migrations)
  }
}

/// A logger for tests that are not about logs.
package let quiet: Logger = {
  var logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
  logger.logLevel = .critical
  return logger
}()

package func withPlace<T>(_ engine: Engine, _ body: (Place) async throws -> T) async throws -> T {
  await Turnstile.enter()
  defer { Task { await Turnstile.leave() } }
  let name = "kith_test_" + UUID().uuidString.replacingOccurrences(of: "-", with: "").lowercased()
  let folder = FileManager.default.temporaryDirectory.appendingPathComponent(name)
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  // `try?`: what is left of a test's folder harms nobody.
  defer { try? FileManager.default.removeItem(at: folder) }
  guard engine == .postgres, let server = postgresURL else {
    return try await body(Place(engine: engine, folder: folder, databaseURL: folder.path + "/"))
  }
  try await onServer("create database \(name)")
  let place = Place(
    engine: engine, folder: folder,
    databaseURL: String(server[..<(server.lastIndex(of: "/") ?? server.endIndex)]) + "/" + name)
  do {
    let result = try await body(place)
    try await onServer("drop database \(name) with (force)")
    return result
  } catch {
    try await onServer("drop database \(name) with (force)")
    throw error
  }
}

/// Runs a statement that cannot stand in a transaction.
private func onServer(_ statement: String) async throws {
  guard let postgresURL else { return }
  try await administer(postgresURL, statement)
}

/// Few tests at a time: each has servers, threads and connections of its own, on two cores.
private actor Turnstile {
  private static let shared = Turnstile()
  private var inside = 0
  private var waiting: [CheckedContinuation<Void, Never>] = []
  private static let most = 4

  static func enter() async { await shared.enter() }
  static func leave() async { await shared.leave() }

  private func enter() async {
    if inside < Self.most {
      inside += 1
    } else {
      await withCheckedContinuation { waiting.append($0) }
    }
  }

  private func leave() {
    if waiting.isEmpty { inside -= 1 } else { waiting.removeFirst().resume() }
  }
}
