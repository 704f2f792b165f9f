import Database
import Postgres

/// The database of a service, configured by `DATABASE_URL` or `DATA_DIR`.
extension Dependencies {
  /// Opens the service's database and runs its pending migrations.
  ///
  /// - Throws: ``DatabaseFailure/unusable`` with one line that says what to fix.
  package func openDatabase(_ schema: ServiceSchema) async throws -> any Database {
    let database = try await openMigrated(schema)
    return MeasuredDatabase(wrapDatabase(database), in: registry, writes: writes)
  }

  /// Runs the pending migrations of a service and closes its database again. Safe to repeat, and beside services that
  /// run.
  ///
  /// - Throws: ``DatabaseFailure/unusable`` with one line that says what to fix.
  package func migrateDatabase(_ schema: ServiceSchema) async throws {
    try await openMigrated(schema).close()
  }

  private func openMigrated(_ schema: ServiceSchema) async throws -> any Database {
    let database = try connect(schema)
    do {
      try await database.migrate(schema.migrations)
      return database
    } catch {
      await database.close()
      throw error
    }
  }

  /// The version of the PostgreSQL server that has the service's tables.
  ///
  /// - Throws: the failure of the connection.
  package func postgresVersion(of service: String) async throws -> String {
    let database = try connect(ServiceSchema(service, []))
    do {
      let version = try await database.read {
        try $0.row("show server_version")?.get("server_version", as: String.self)
      }
      await database.close()
      return "PostgreSQL \(version ?? "")"
    } catch {
      await database.close()
      throw error
    }
  }

  /// Where the service's database is.
  package func databaseURL(_ schema: ServiceSchema) throws -> DatabaseURL {
    let folder = settings.string("DATA_DIR", default: "data")
    return try DatabaseURL(settings.nonempty("DATABASE_URL") ?? "\(folder)/", service: schema.name)
  }

  /// Where the service's PostgreSQL server itself is, for notifications; nil with SQLite.
  package func directPostgresURL(_ schema: ServiceSchema) throws -> String? {
    guard let url = try databaseURL(schema).postgres else { return nil }
    return try directDatabaseURL(schema) ?? url
  }

  private func directDatabaseURL(_ schema: ServiceSchema) throws -> String? {
    try settings.nonempty("DIRECT_DATABASE_URL").flatMap { try DatabaseURL($0, service: schema.name).postgres }
  }

  private func connect(_ schema: ServiceSchema) throws -> any Database {
    switch try databaseURL(schema) {
    case .sqlite(let path): try SQLite(path: path, service: schema.name, functions: schema.sqliteFunctions)
    case .postgres(let url):
      try Postgres(
        url: url, schema: schema.name, directURL: directDatabaseURL(schema),
        readURL: settings.nonempty("DATABASE_READ_URL"),
        migrationURL: settings.nonempty("MIGRATION_DATABASE_URL"),
        appendOnlyTables: schema.appendOnlyTables,
        connections: try settings.int(
          "DATABASE_CONNECTIONS", default: Postgres.defaultConnectionCount(AvailableCores.count), in: 1...200),
        logger: logger)
    }
  }
}
