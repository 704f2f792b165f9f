import Database
import Foundation
import Wire

/// The sockets and event streams that are open on all replicas. Those of a replica count as long as its lease lives.
struct OpenConnectionStore: Sendable {
  let database: any Database

  /// Adds a connection, after others of its user that are being added at the same time on any replica.
  ///
  /// - Returns: false when the user has `max` already.
  func add(_ connection: OpenConnection, of replica: String, max: Int, at now: Date) async throws -> Bool {
    try await database.write { [engine = database.engine] db in
      // A user has no row that could be locked. SQLite runs one transaction at a time.
      let lock = "connections of \(connection.user)"
      if engine == .postgres { try db.enqueue("select pg_advisory_xact_lock(hashtextextended(\(lock), 0))") }
      let added = try db.change(
        """
        insert into open_connection (replica, number, user_id)
        select \(replica), \(connection.number), \(connection.user)
        where (
          select count(*) from open_connection
          join presence_replica on presence_replica.id = open_connection.replica
          where open_connection.user_id = \(connection.user) and presence_replica.expires_at > \(now)
        ) < \(max)
        """)
      return added == 1
    }
  }

  /// Adds connections that are open already, whatever the limit. Safe to repeat.
  func restore(_ connections: some Sequence<OpenConnection> & Sendable, of replica: String) async throws {
    try await database.write { db in
      for connection in connections {
        try db.enqueue(
          """
          insert into open_connection (replica, number, user_id)
          values (\(replica), \(connection.number), \(connection.user)) on conflict (replica, number) do nothing
          """)
      }
    }
  }

  func remove(_ numbers: [Int], of replica: String) async throws {
    try await database.write { db in
      for number in numbers {
        try db.enqueue("delete from open_connection where replica = \(replica) and number = \(number)")
      }
    }
  }

  /// Removes connections of replicas that have ended.
  ///
  /// - Returns: how many.
  static func remove(of ended: [String], limit: Int, on db: any Connection) throws -> Int {
    try db.change(
      """
      delete from open_connection where (replica, number) in (
        select replica, number from open_connection where replica in (\(list: ended))
        order by replica, number limit \(limit))
      """)
  }
}
