import Database
import Foundation
import Logging
import Postgres
import ServiceLifecycle

/// The whole of a `main.swift`: reads the configuration, builds, serves until SIGTERM or SIGINT. A start that fails says
/// why in one line on standard error and exits with 1.
package func serve(_ name: String, _ build: (Surroundings) async throws -> any Service) async {
  do {
    let settings = try await Settings.read()
    try LogLines.bootstrap(settings)
    let logger = Logger(label: name)
    let service = try await build(Surroundings(settings, logger: logger))
    var quiet = logger
    quiet.logLevel = max(logger.logLevel, .warning)
    try await ServiceGroup(
      services: [service], gracefulShutdownSignals: [.sigterm, .sigint], logger: quiet
    ).run()
  } catch {
    let who = name == "kith" ? name : "kith-\(name)"
    FileHandle.standardError.write(Data("\(who): \(oneLine(error))\n".utf8))
    exit(1)
  }
}

private func oneLine(_ error: any Error) -> String {
  let words =
    switch error {
    case let failure as StartFailure: failure.description
    case DatabaseFailure.unusable(let words): words
    default: String(describing: error)
    }
  return words.replacingOccurrences(of: "\n", with: " ")
}

extension Surroundings {
  /// Opens the service's database and brings its schema up to date.
  ///
  /// - Throws: ``DatabaseFailure/unusable`` with a line that says what to mend.
  package func openDatabase(for service: String, _ migrations: [Migration]) async throws -> any Database {
    let folder = settings.string("DATA_DIR", default: "data")
    let url = settings.nonempty("DATABASE_URL") ?? "\(folder)/"
    let database: any Database
    switch try DatabaseURL(url, service: service) {
    case .sqlite(let path): database = try SQLite(path: path, service: service)
    case .postgres(let url):
      database = Postgres(
        url: url, schema: service, migrationURL: settings.nonempty("MIGRATION_DATABASE_URL"),
        connections: try settings.int("DATABASE_CONNECTIONS", default: Postgres.connectionsOfThisMachine, in: 1...200),
        logger: logger)
    }
    try await database.migrate(migrations)
    return MeasuredDatabase(database, in: registry)
  }
}
