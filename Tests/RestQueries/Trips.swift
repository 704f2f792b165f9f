import Database
import Foundation
import RestQueries
import Support
import Wire

/// Trips that lead to sights: two tables with a third between them, whose rows some callers do not see. A trip is
/// written by the service itself, with its first day.
enum Trips {
  static let database = ServiceSchema(
    "trips",
    [
      Migration(
        "tables",
        """
        create table trip (
          id uuid primary key, user_id uuid not null, name text not null, days bigint not null, ended_at timestamptz,
          constraint trip_name check (length(name) > 0)
        );
        create table sight (id uuid primary key, name text not null);
        create table visit (
          id uuid primary key, trip_id uuid not null, sight_id uuid not null, user_id uuid not null,
          is_secret boolean not null default false
        );
        create table trip_day (trip_id uuid not null, title text not null);
        """)
    ], sqliteFunctions: RestFunctions.all)

  private static let owns: RowExpression = { trip, caller in "\(trip.user_id) = \(caller.id)" }

  static let schema = RestSchema(
    Table(
      "trips", from: "trip",
      columns: [
        Column("id", .uuid, .key), Column("user_id", .uuid, .owner), Column("name", .text),
        Column("days", .integer, .never), Column("ended_at", .timestamp, .onUpdate),
      ],
      relations: [.many("sights", through: "visits", by: "trip_id", to: "sight_id"), .many("visits", by: "trip_id")],
      nested: ["first_day"], access: .ownersOnly(owns),
      writes: TableWrites(
        insert: insert, update: update, delete: delete)),
    Table(
      "sights", from: "sight", columns: [Column("id", .uuid, .key), Column("name", .text)],
      relations: [.many("trips", through: "visits", by: "sight_id", to: "trip_id")],
      access: Access(sees: { _, _ in "true" }, inserts: { _, _ in "true" })),
    Table(
      "visits", from: "visit",
      columns: [
        Column("id", .uuid, .key), Column("trip_id", .uuid, .onInsert), Column("sight_id", .uuid, .onInsert),
        Column("user_id", .uuid, .owner), Column("is_secret", .boolean),
      ],
      access: Access(
        sees: { visit, caller in "\(visit.user_id) = \(caller.id) or not \(visit.is_secret)" },
        inserts: { _, _ in "true" })))

  private static func insert(_ trip: RowValues, _ caller: Caller, _ db: any Connection) throws {
    try db.change(
      """
      insert into trip (id, user_id, name, days) values (\(trip["id"] ?? .null), \(caller.id), \(trip["name"] ?? .null),
        1)
      """)
    guard case .string(let title) = trip.nested("first_day") else { return }
    try db.change("insert into trip_day (trip_id, title) values (\(trip["id"] ?? .null), \(title))")
  }

  private static func update(_ keys: [String], _ trip: RowValues, _ caller: Caller, _ db: any Connection) throws {
    for key in keys {
      if let name = trip["name"] { try db.change("update trip set name = \(name) where id = \(TripID(key))") }
      if let end = trip["ended_at"] { try db.change("update trip set ended_at = \(end) where id = \(TripID(key))") }
    }
  }

  private static func delete(_ keys: [String], _ caller: Caller, _ db: any Connection) throws {
    for key in keys {
      try db.change("delete from trip_day where trip_id = \(TripID(key))")
      try db.change("delete from trip where id = \(TripID(key))")
    }
  }

  private enum Trip {}
  private typealias TripID = ID<Trip>
}
