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

/// A database with the tables of all services, of which the databases of tests on PostgreSQL are copies: a copy takes
/// much less time than all migrations. Made once for all tests of a process.
actor MigratedTemplate {
  static let shared = MigratedTemplate()
  private var made: Task<String, any Error>?

  /// Its name.
  func name() async throws -> String {
    let task = made ?? Task { try await Self.make() }
    made = task
    return try await task.value
  }

  private static func make() async throws -> String {
    try await newPostgresDatabase { testDatabase in
      for schema in [
        authSchema, invitesSchema, groupsSchema, listsSchema, creditsSchema, eventsSchema, adventuresSchema,
        timepointsSchema,
      ] { await (try await testDatabase.open(schema, connections: 1)).close() }
    }
  }
}
