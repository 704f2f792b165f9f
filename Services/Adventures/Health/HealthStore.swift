import Database
import Foundation
import Wire

/// What the database uses; nil for what its engine does not count.
struct SystemMetrics: Sendable {
  var databaseSize: String?
  var activeConnections: Int?
  var connectionsMax: Int?
}

/// The queries of the functions that report health.
struct HealthStore: Sendable {
  let database: any Database

  static let unavailable = "The database does not answer."

  /// Why the database is not usable; nil when it is.
  func problem() async -> String? {
    do {
      _ = try await database.readOnce { db in try db.row("select 1 as one") }
      return nil
    } catch {
      return Self.unavailable
    }
  }

  /// How many rows of each table are the user's own.
  func counts(of user: UserID) async throws -> [String: Int] {
    try await database.readOnce { db in
      let found = try db.rows(of: [
        "select count(*) as count from adventure_plan where user_id = \(user)",
        "select count(*) as count from saved_place where user_id = \(user)",
        "select count(*) as count from hunt where created_by = \(user)",
        "select count(*) as count from hunt_participant where user_id = \(user)",
        "select count(*) as count from checkpoint_submission where user_id = \(user)",
        "select count(*) as count from eta_share where user_id = \(user)",
      ])
      return Dictionary(
        try zip(Self.countedTables, found).map { ($0, try $1.first?.get("count") ?? 0) }
      ) { $1 }
    }
  }

  private static let countedTables = [
    AdventureTables.plans, AdventureTables.places, AdventureTables.hunts, AdventureTables.participants,
    AdventureTables.submissions, AdventureTables.shares,
  ].map(\.name)

  func metrics() async throws -> SystemMetrics {
    let engine = database.engine
    return try await database.readOnce { db in
      switch engine {
      case .sqlite:
        let row = try db.row(
          "select page_count * page_size as bytes from pragma_page_count(), pragma_page_size()")
        return SystemMetrics(databaseSize: Self.text(bytes: try row?.get("bytes") ?? 0))
      case .postgres:
        let row = try db.row(
          """
          select pg_database_size(current_database()) as bytes,
            (select count(*) from pg_stat_activity where datname = current_database()) as connections,
            cast(current_setting('max_connections') as bigint) as connections_max
          """)
        return SystemMetrics(
          databaseSize: Self.text(bytes: try row?.get("bytes") ?? 0), activeConnections: try row?.get("connections"),
          connectionsMax: try row?.get("connections_max"))
      }
    }
  }

  private static func text(bytes: Int) -> String { "\((bytes + 1023) / 1024) kB" }
}
