import Database
import Foundation
import Wire

/// Every statement on files that are to be deleted from the storage: those that no object names any more, and those
/// that are being stored and may never be named.
struct DiscardedFileStore: Sendable {
  let database: any Database

  /// How long a file may be pending, in seconds: longer than any request lasts.
  static let pendingLifetime: TimeInterval = 10 * 60
  /// A file that is due so soon may be being deleted, by a process whose clock is ahead.
  private static let margin: TimeInterval = 60

  /// Notes a file before its bytes are stored. After a crash it is deleted.
  func addPending(_ file: StoredFileID, at now: Date) async throws {
    try await database.write { db in try Self.add(file, deleteAt: now + Self.pendingLifetime, on: db) }
  }

  static func add(_ file: StoredFileID, deleteAt time: Date, on db: any Connection) throws {
    try db.change("insert into discarded_file (file_id, delete_at) values (\(file), \(time))")
  }

  /// Takes back that a pending file is to be deleted. False when it may be gone.
  static func keep(_ file: StoredFileID, at now: Date, on db: any Connection) throws -> Bool {
    try db.change("delete from discarded_file where file_id = \(file) and delete_at > \(now + margin)") == 1
  }

  /// The file is not stored after all.
  func giveUp(_ file: StoredFileID, at now: Date) async throws { try await postpone([file], until: now) }

  func due(at now: Date, limit: Int) async throws -> [StoredFileID] {
    try await database.read { db in
      try db.rows("select file_id from discarded_file where delete_at <= \(now) order by delete_at limit \(limit)")
        .map { try $0.get("file_id") }
    }
  }

  /// Deletes the rows of files whose bytes have been deleted.
  func delete(_ files: [StoredFileID]) async throws {
    guard !files.isEmpty else { return }
    try await database.write { db in _ = try db.change("delete from discarded_file where file_id in (\(list: files))") }
  }

  func postpone(_ files: [StoredFileID], until time: Date) async throws {
    guard !files.isEmpty else { return }
    try await database.write { db in
      _ = try db.change("update discarded_file set delete_at = \(time) where file_id in (\(list: files))")
    }
  }
}
