import Database
import Foundation
import Wire

/// What the providers have counted on each day (UTC), of all processes together.
struct ProviderUsageStore: Sendable {
  let database: any Database

  static let migration = Migration(
    "provider usage by day",
    """
    create table provider_usage (
      day text primary key,
      calls bigint not null,
      tokens bigint not null
    );
    """)

  func tokens(on day: String) async throws -> Int {
    try await database.readOnce { db in
      try db.row("select tokens from provider_usage where day = \(day)").map { try $0.get("tokens") } ?? 0
    }
  }

  func add(calls: Int, tokens: Int, on day: String) async throws {
    try await database.write { db in
      try db.change(
        """
        insert into provider_usage (day, calls, tokens) values (\(day), \(calls), \(tokens))
        on conflict (day) do update
          set calls = provider_usage.calls + excluded.calls, tokens = provider_usage.tokens + excluded.tokens
        """)
    }
  }
}
