import Adventures
import Auth
import Credits
import Database
import Events
import Foundation
import Groups
import Invites
import Lists
import Timepoints

/// Databases with the tables of all services, of which the databases of tests are copies: a copy takes much less time
/// than all migrations. Made once for all tests of a process.
actor MigratedTemplate {
  static let shared = MigratedTemplate()
  private var madeOnPostgres: Task<String, any Error>?
  private var madeOnSQLite: Task<URL, any Error>?

  /// The name of the database on PostgreSQL.
  func name() async throws -> String {
    let task = madeOnPostgres ?? Task { try await newPostgresDatabase(Self.migrate) }
    madeOnPostgres = task
    return try await task.value
  }

  /// Copies the databases of SQLite into a folder.
  func copy(to folder: URL) async throws {
    let task = madeOnSQLite ?? Task { try await newSQLiteFolder(Self.migrate) }
    madeOnSQLite = task
    let template = try await task.value
    for file in try FileManager.default.contentsOfDirectory(atPath: template.path) where file.hasSuffix(".db") {
      try FileManager.default.copyItem(at: template.appending(path: file), to: folder.appending(path: file))
    }
  }

  private static func migrate(_ testDatabase: TestDatabase) async throws {
    for schema in [
      authSchema, invitesSchema, groupsSchema, listsSchema, creditsSchema, eventsSchema, adventuresSchema,
      timepointsSchema,
    ] { await (try await testDatabase.open(schema, connections: 1)).close() }
  }
}
