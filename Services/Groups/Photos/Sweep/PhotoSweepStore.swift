import Database
import Foundation
import Photos
import Wire

/// Every statement of ``PhotoSweep``: finding and deleting photos that have ended, and the marker of the storage.
struct PhotoSweepStore: Sendable {
  let database: any Database

  /// Photos that have expired or were ended before, in the order in which they ended.
  func ended(at now: Date, limit: Int) async throws -> [PhotoID] {
    try await database.read { db in
      try db.rows("select id from photo where expires_at <= \(now) order by expires_at limit \(limit)")
        .map { try $0.get("id") }
    }
  }

  /// Deletes the rows of photos whose files have been deleted. The members are told of those that have expired; of the
  /// others they know.
  func delete(_ ids: [PhotoID], at now: Date) async throws {
    try await database.write { db in
      let deleted = try db.rows(
        "delete from photo where id in (\(list: ids)) returning id, group_id, sender_id, state")
      let expired = try deleted.filter { try $0.get("state", as: String.self) == "ready" }
      try PhotoEvents.ended(expired.map(EndedPhoto.init), at: now, on: db)
    }
  }

  /// Postpones photos whose files could not be deleted, so that they do not hold up the next batch. They stay
  /// invisible.
  func postpone(_ ids: [PhotoID], until time: Date, at now: Date) async throws {
    guard !ids.isEmpty else { return }
    try await database.write { db in
      try Self.end(ids, until: time, at: now, on: db)
      _ = try db.change("update photo set state = 'ended', expires_at = \(time) where id in (\(list: ids))")
    }
  }

  /// Those of `ids` that have a row.
  func existing(among ids: [PhotoID]) async throws -> Set<PhotoID> {
    try await database.read { db in
      Set(try db.rows("select id from photo where id in (\(list: ids))").map { try $0.get("id", as: PhotoID.self) })
    }
  }

  /// Those of `ids` that are visible.
  func ready(among ids: [PhotoID]) async throws -> [PhotoID] {
    try await database.read { db in
      try db.rows("select id from photo where state = 'ready' and id in (\(list: ids))").map { try $0.get("id") }
    }
  }

  /// Visible photos in the order of their ids: from `first`, after `last` and before `end`, each where it is not nil.
  func ready(
    from first: PhotoID?, after last: PhotoID?, before end: PhotoID?, limit: Int
  ) async throws -> [PhotoID] {
    try await database.read { db in
      try db.rows(
        """
        select id from photo
        where state = 'ready' and id >= \(first ?? .lowest) and id > \(last ?? .lowest) and id < \(end ?? .highest)
        order by id limit \(limit)
        """
      ).map { try $0.get("id") }
    }
  }

  /// Ends photos whose files are missing, so that no link to a missing file is served.
  func end(_ ids: [PhotoID], at now: Date) async throws {
    try await database.write { db in try Self.end(ids, until: now, at: now, on: db) }
  }

  /// - Parameter time: when the sweep deletes them.
  private static func end(_ ids: [PhotoID], until time: Date, at now: Date, on db: any Connection) throws {
    let ended = try db.rows(
      """
      update photo set state = 'ended', expires_at = \(time) where state = 'ready' and id in (\(list: ids))
      returning id, group_id, sender_id
      """)
    try PhotoEvents.ended(ended.map(EndedPhoto.init), at: now, on: db)
  }

  /// The marker of the storage that belongs to this database; nil before one was generated.
  func storageMarker() async throws -> StorageMarker? {
    try await database.read { db in
      try db.row("select mark, is_placed from photo_store").map {
        StorageMarker(id: try $0.get("mark"), isWritten: try $0.get("is_placed"))
      }
    }
  }

  /// Safe to repeat: the first marker stays.
  func insert(_ marker: StorageMarkerID) async throws {
    try await database.write { db in
      _ = try db.change(
        "insert into photo_store (one, mark, is_placed) values (1, \(marker), \(false)) on conflict (one) do nothing")
    }
  }

  /// Records that the marker has been written to the storage.
  func setMarkerWritten() async throws {
    try await database.write { db in _ = try db.change("update photo_store set is_placed = \(true)") }
  }

  /// Closed groups without photos.
  func closedGroups(limit: Int) async throws -> [GroupID] {
    try await database.read { db in
      try db.rows(
        """
        select id from social_group where closed_at is not null
          and not exists (select 1 from photo where photo.group_id = social_group.id) limit \(limit)
        """
      ).map { try $0.get("id") }
    }
  }

  func delete(_ groups: [GroupID]) async throws {
    try await database.write { db in
      _ = try db.change("delete from social_group where closed_at is not null and id in (\(list: groups))")
    }
  }
}

extension PhotoID {
  // `uuid_t` has no shorter spelling.
  fileprivate static let lowest = PhotoID(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))
  fileprivate static let highest = PhotoID(
    UUID(uuid: (255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255)))
}
