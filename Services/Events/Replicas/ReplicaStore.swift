import Database
import Foundation

/// The leases of the replicas. What a replica has in the database, who is present on it and which connections and
/// topics are open, counts as long as its lease lives, so that nothing stays after a crash.
struct ReplicaStore: Sendable {
  let database: any Database
  private static let batchSize = 1000

  func setLease(of replica: String, until end: Date) async throws {
    try await database.write { db in
      try db.change(
        """
        insert into presence_replica (id, expires_at) values (\(replica), \(end))
        on conflict (id) do update set expires_at = excluded.expires_at
        """)
    }
  }

  /// Removes what is of replicas whose leases have expired, a bounded number.
  ///
  /// - Returns: who was present on them.
  func removeExpired(at now: Date) async throws -> [PresenceStore.Entry] {
    try await database.write { db in
      // Locks them, so that a lease that is extended now is either no longer expired or has lapsed.
      let expired = try db.rows(
        """
        update presence_replica set expires_at = expires_at where expires_at <= \(now) and id in (
          select id from presence_replica where expires_at <= \(now) order by id limit 10)
        returning id
        """
      ).map { try $0.get("id", as: String.self) }
      guard !expired.isEmpty else { return [] }
      let connections = try OpenConnectionStore.remove(of: expired, limit: Self.batchSize, on: db)
      let count = max(connections, try OpenTopicStore.remove(of: expired, limit: Self.batchSize, on: db))
      let entries = try PresenceStore.remove(of: expired, limit: Self.batchSize, on: db)
      // Else the rest is removed the next time.
      if max(count, entries.count) < Self.batchSize {
        try db.change("delete from presence_replica where id in (\(list: expired))")
      }
      return entries
    }
  }
}
