import Database
import Foundation
import Wire

/// Every statement with which photos are cleared away.
struct PhotoRemains: Sendable {
  let database: any Database

  /// Photos that have ended, by their time or before it, the first first.
  func ended(at now: Date, limit: Int) async throws -> [PhotoID] {
    try await database.read { db in
      try db.rows("select id from photo where expires_at <= \(now) order by expires_at limit \(limit)")
        .map { try $0.get("id") }
    }
  }

  /// Forgets photos whose bytes are gone.
  func forget(_ ids: [PhotoID]) async throws {
    try await database.write { db in _ = try db.change("delete from photo where id in (\(list: ids))") }
  }

  /// Puts off what could not be deleted, so that it does not keep what comes after it. Nobody sees it meanwhile.
  func postpone(_ ids: [PhotoID], until time: Date) async throws {
    guard !ids.isEmpty else { return }
    try await database.write { db in
      _ = try db.change("update photo set state = 'ended', expires_at = \(time) where id in (\(list: ids))")
    }
  }

  /// Which of these photos there are rows of.
  func known(among ids: [PhotoID]) async throws -> Set<PhotoID> {
    try await database.read { db in
      Set(try db.rows("select id from photo where id in (\(list: ids))").map { try $0.get("id", as: PhotoID.self) })
    }
  }

  /// Which of these photos can be seen.
  func ready(among ids: [PhotoID]) async throws -> [PhotoID] {
    try await database.read { db in
      try db.rows("select id from photo where state = 'ready' and id in (\(list: ids))").map { try $0.get("id") }
    }
  }

  /// Photos that should be there, in the order of their ids: `first` and those after it, of them those after `last`, of
  /// them those before `end`, each where there is such.
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

  /// Ends photos whose bytes have been lost: nobody should be shown a link to nothing.
  func end(_ ids: [PhotoID], at now: Date) async throws {
    try await database.write { db in
      _ = try db.change(
        "update photo set state = 'ended', expires_at = \(now) where state = 'ready' and id in (\(list: ids))")
    }
  }

  /// What the store is marked with; nil before anybody has seen to it.
  func storeMark() async throws -> StoreMark? {
    try await database.read { db in
      try db.row("select mark, is_placed from photo_store").map {
        StoreMark(id: try $0.get("mark"), isPlaced: try $0.get("is_placed"))
      }
    }
  }

  /// Safe to repeat: the first one stays.
  func note(_ mark: StoreMarkID) async throws {
    try await database.write { db in
      _ = try db.change(
        "insert into photo_store (one, mark, is_placed) values (1, \(mark), \(false)) on conflict (one) do nothing")
    }
  }

  func noteThatTheMarkIsPlaced() async throws {
    try await database.write { db in _ = try db.change("update photo_store set is_placed = \(true)") }
  }

  /// Groups that were closed and to which no photo points any more.
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

  func forget(_ groups: [GroupID]) async throws {
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
