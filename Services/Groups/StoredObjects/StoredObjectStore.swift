import Database
import Foundation
import Wire

/// Every statement on the files of `/storage/v1` and on how many each user has.
struct StoredObjectStore: Sendable {
  let database: any Database

  func object(_ name: StoredObjectName) async throws -> StoredObject? {
    try await database.readOnce { db in try Self.find(name, on: db) }
  }

  /// All files of a user in a bucket, in the order of their names.
  func objects(of owner: UserID, in bucket: StoredObjectName.Bucket) async throws -> [StoredObject] {
    try await database.read { db in
      try db.rows(
        """
        select \(columns) from stored_object where owner_id = \(owner) and bucket = \(bucket.rawValue)
        order by path limit \(StoredObject.countMax)
        """
      ).map(StoredObject.init)
    }
  }

  static func all(of owner: UserID, on db: any Connection) throws -> [StoredObject] {
    try db.rows(
      """
      select \(columns) from stored_object where owner_id = \(owner) order by bucket, path
      limit \(StoredObject.countMax)
      """
    ).map(StoredObject.init)
  }

  /// Checked before rendering, to reject an upload early. The final check is made when it is put.
  ///
  /// - Throws: 409 when the name is taken and `replaces` is false; 403 when the user has too many files.
  func checkMayPut(_ name: StoredObjectName, replaces: Bool) async throws {
    try await database.read { db in
      let isTaken = try Self.find(name, on: db) != nil
      guard !isTaken || replaces else { throw Failure.objectExists }
      let use = try db.row("select object_count, size_bytes from stored_object_use where owner_id = \(name.owner)")
      guard let use else { return }
      guard try isTaken || use.get("object_count") < StoredObject.countMax,
        try use.get("size_bytes") < StoredObject.bytesMax
      else { throw Failure.tooManyObjects }
    }
  }

  /// Gives a file a name, in place of an earlier one. Its bytes are stored, and it is pending in `discarded_file`.
  ///
  /// - Throws: 409 when the name is taken and `replaces` is false; 403 when the user has too many files; 503 when the
  ///   file has been pending for so long that it may be deleted.
  func put(_ new: NewStoredObject, replaces: Bool, at now: Date) async throws -> StoredObject {
    try await database.write { db in
      try Self.lockUse(of: new.name.owner, on: db)
      guard try DiscardedFileStore.keep(new.file, at: now, on: db) else { throw Failure.unavailable }
      let old = try Self.find(new.name, on: db)
      guard old == nil || replaces else { throw Failure.objectExists }
      let oldBytes = try Self.bytesInAll(of: old?.id, on: db)
      try Self.use(old == nil ? 1 : 0, new.bytesInAll - oldBytes, by: new.name.owner, on: db)
      let id = old?.id ?? .new(at: now)
      if let old {
        try db.change(
          """
          update stored_object set file_id = \(new.file), size_bytes = \(new.byteCount),
            size_bytes_in_all = \(new.bytesInAll), cache_seconds = \(new.cacheSeconds), updated_at = \(now)
          where id = \(id)
          """)
        try DiscardedFileStore.add(old.file, deleteAt: now, on: db)
      } else {
        try db.change(
          """
          insert into stored_object (id, bucket, path, owner_id, file_id, size_bytes, size_bytes_in_all, cache_seconds,
            created_at, updated_at)
          values (\(id), \(new.name.bucket.rawValue), \(new.name.path), \(new.name.owner), \(new.file),
            \(new.byteCount), \(new.bytesInAll), \(new.cacheSeconds), \(now), \(now))
          """)
      }
      return StoredObject(
        id: id, name: new.name, file: new.file, byteCount: new.byteCount, cacheSeconds: new.cacheSeconds,
        createdAt: old?.createdAt ?? now, updatedAt: now)
    }
  }

  /// Deletes those of the files that are the user's own.
  ///
  /// - Returns: what was deleted.
  func delete(
    _ names: [StoredObjectName], of owner: UserID, at now: Date
  ) async throws -> [StoredObject] {
    let own = names.filter { $0.owner == owner }
    guard !own.isEmpty else { return [] }
    return try await database.write { db in
      try Self.lockUse(of: owner, on: db)
      var deleted: [StoredObject] = []
      for bucket in StoredObjectName.Bucket.allCases {
        let paths = Set(own.filter { $0.bucket == bucket }.map(\.path)).sorted()
        guard !paths.isEmpty else { continue }
        let rows = try db.rows(
          """
          delete from stored_object
          where owner_id = \(owner) and bucket = \(bucket.rawValue) and path in (\(list: paths))
          returning \(columns), size_bytes_in_all
          """)
        for row in rows {
          let object = try StoredObject(row)
          try DiscardedFileStore.add(object.file, deleteAt: now, on: db)
          try Self.use(-1, -(try row.get("size_bytes_in_all", as: Int.self)), by: owner, on: db)
          deleted.append(object)
        }
      }
      return deleted
    }
  }

  /// Deletes all files of a user whose account is erased.
  static func deleteAll(of owner: UserID, at now: Date, on db: any Connection) throws {
    try lockUse(of: owner, on: db)
    for row in try db.rows("delete from stored_object where owner_id = \(owner) returning file_id") {
      try DiscardedFileStore.add(try row.get("file_id"), deleteAt: now, on: db)
    }
    try db.change("delete from stored_object_use where owner_id = \(owner)")
  }

  private static func find(_ name: StoredObjectName, on db: any Connection) throws -> StoredObject? {
    try db.row(
      "select \(columns) from stored_object where bucket = \(name.bucket.rawValue) and path = \(name.path)"
    ).map(StoredObject.init)
  }

  private static func bytesInAll(of id: StoredObjectID?, on db: any Connection) throws -> Int {
    guard let id else { return 0 }
    return try db.row("select size_bytes_in_all from stored_object where id = \(id)")?.get("size_bytes_in_all") ?? 0
  }

  /// Locks the user's row, so that changes of the user's files wait for each other.
  private static func lockUse(of owner: UserID, on db: any Connection) throws {
    try db.change(
      """
      insert into stored_object_use (owner_id, object_count, size_bytes) values (\(owner), 0, 0)
      on conflict (owner_id) do update set object_count = stored_object_use.object_count
      """)
  }

  /// - Throws: 403 when the user would have too many files.
  private static func use(_ count: Int, _ bytes: Int, by owner: UserID, on db: any Connection) throws {
    let changed = try db.change(
      """
      update stored_object_use set object_count = object_count + \(count), size_bytes = size_bytes + \(bytes)
      where owner_id = \(owner) and object_count <= \(StoredObject.countMax - count)
        and size_bytes <= \(StoredObject.bytesMax - bytes)
      """)
    guard changed == 1 else { throw Failure.tooManyObjects }
  }
}

private let columns: SQL = "id, bucket, path, file_id, size_bytes, cache_seconds, created_at, updated_at"

extension StoredObject {
  fileprivate init(_ row: Row) throws {
    guard
      let name = StoredObjectName("\(try row.get("bucket", as: String.self))/\(try row.get("path", as: String.self))")
    else { throw Failure.broken }
    id = try row.get("id")
    self.name = name
    file = try row.get("file_id")
    byteCount = try row.get("size_bytes")
    cacheSeconds = try row.get("cache_seconds")
    createdAt = try row.get("created_at")
    updatedAt = try row.get("updated_at")
  }
}
