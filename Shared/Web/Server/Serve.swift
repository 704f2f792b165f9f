import Database
import Foundation
import Logging
import Postgres
import ServiceLifecycle

/// The body of every `main.swift`: reads the configuration, builds the service, serves until SIGTERM or SIGINT. A start
/// that fails writes the reason as one line to standard error and exits with 1.
package func serve(_ name: String, _ build: (Dependencies) async throws -> any Service) async {
  do {
    let settings = try await Settings.read()
    try StandardOutputLogHandler.bootstrap(settings)
    let logger = Logger(label: name)
    let service = try await build(Dependencies(settings, logger: logger))
    var quiet = logger
    quiet.logLevel = max(logger.logLevel, .warning)
    try await ServiceGroup(
      services: [service], gracefulShutdownSignals: [.sigterm, .sigint], logger: quiet
    ).run()
  } catch {
    let program = name == "kith" ? name : "kith-\(name)"
    FileHandle.standardError.write(Data("\(program): \(singleLine(error))\n".utf8))
    exit(1)
  }
}

private func singleLine(_ error: any Error) -> String {
  let text =
    switch error {
    case let failure as StartFailure: failure.description
    case DatabaseFailure.unusable(let reason): reason
    default: String(describing: error)
    }
  return text.replacingOccurrences(of: "\n", with: " ")
}

extension Dependencies {
  /// Opens the service's database and runs its pending migrations.
  ///
  /// - Throws: ``DatabaseFailure/unusable`` with one line that says what to fix.
  package func openDatabase(for service: String, _ migrations: [Migration]) async throws -> any Database {
    let folder = settings.string("DATA_DIR", default: "data")
    let url = settings.nonempty("DATABASE_URL") ?? "\(folder)/"
    let database: any Database
    switch try DatabaseURL(url, service: service) {
    case .sqlite(let path): database = try SQLite(path: path, service: service)
    case .postgres(let url):
      database = Postgres(
        url: url, schema: service, migrationURL: settings.nonempty("MIGRATION_DATABASE_URL"),
        connections: try settings.int("DATABASE_CONNECTIONS", default: Postgres.defaultConnectionCount, in: 1...200),
        logger: logger)
    }
    try await database.migrate(migrations)
    return MeasuredDatabase(database, in: registry)
  }
}
