import Database
import Postgres

/// The database of a service, configured by `DATABASE_URL` or `DATA_DIR`.
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
