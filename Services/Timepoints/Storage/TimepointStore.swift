import Database
import Foundation
import Wire

/// The statements that read and change single timepoints.
enum TimepointStore {
  static let columns: SQL = """
    id, owner_id, query, slug, status, visibility, preset, scene, image_bytes, failure, request_context,
    credits_charged, generation_ms, sequence_id, parent_id, direction, blob_folder, blob_written_at, created_at,
    ended_at, deleted_at
    """

  static func find(_ id: TimepointID, on db: any Connection) throws -> Timepoint? {
    try db.row("select \(columns) from timepoint where id = \(id)").map(Timepoint.init)
  }

  static func find(slug: String, on db: any Connection) throws -> Timepoint? {
    try db.row("select \(columns) from timepoint where slug = \(slug)").map(Timepoint.init)
  }

  /// Whether it has ended, or is not there any more.
  static func isEnded(_ id: TimepointID, on db: any Connection) throws -> Bool {
    try db.row("select id from timepoint where id = \(id) and ended_at is null") == nil
  }

  /// - Throws: 404 when there is none, or 403 when the viewer may not see it.
  static func visible(_ id: TimepointID, to viewer: Viewer, on db: any Connection) throws -> Timepoint {
    guard let timepoint = try find(id, on: db) else { throw Failure.timepointNotFound }
    try viewer.requireVisible(timepoint)
    return timepoint
  }

  /// - Throws: 404 when there is none, or 403 to others than its owner.
  static func own(_ id: TimepointID, of viewer: Viewer, on db: any Connection) throws -> Timepoint {
    guard let timepoint = try find(id, on: db) else { throw Failure.timepointNotFound }
    try viewer.requireOwner(of: timepoint)
    return timepoint
  }

  static func setVisibility(_ id: TimepointID, _ visibility: Timepoint.Visibility, on db: any Connection) throws {
    try db.change("update timepoint set visibility = \(visibility.rawValue) where id = \(id)")
  }

  static func markDeleted(_ id: TimepointID, at now: Date, on db: any Connection) throws {
    try db.change("update timepoint set deleted_at = \(now) where id = \(id) and deleted_at is null")
  }

  static func delete(_ id: TimepointID, on db: any Connection) throws {
    try db.change("delete from timepoint where id = \(id)")
  }

  static func begin(_ id: TimepointID, on db: any Connection) throws {
    try db.change("update timepoint set status = 'processing' where id = \(id) and status = 'pending'")
  }

  static func complete(
    _ id: TimepointID, _ scene: GeneratedScene, imageByteCount: Int?, charged: Int, at now: Date, milliseconds: Int,
    on db: any Connection
  ) throws {
    let json = try String(decoding: JSON.encode(scene), as: UTF8.self)
    try db.change(
      """
      update timepoint set status = 'completed', scene = \(json), year = \(scene.timeline.year),
        location = \(scene.timeline.location), image_bytes = \(imageByteCount), credits_charged = \(charged),
        generation_ms = \(milliseconds), ended_at = \(now)
      where id = \(id) and ended_at is null
      """)
  }

  /// A request that is repeated with its key begins anew, unless it would be refused again.
  static func fail(_ id: TimepointID, _ failure: StoredFailure, at now: Date, on db: any Connection) throws {
    let json = try String(decoding: JSON.encode(failure), as: UTF8.self)
    try db.change(
      """
      update timepoint set status = 'failed', failure = \(json), ended_at = \(now),
        client_key = case when 1 = \(failure.kind == .unprocessable ? 1 : 0) then client_key end
      where id = \(id) and ended_at is null
      """)
  }

  static func recordBlob(_ id: TimepointID, folder: String, at now: Date, on db: any Connection) throws {
    try db.change("update timepoint set blob_folder = \(folder), blob_written_at = \(now) where id = \(id)")
  }
}

extension Timepoint {
  init(_ row: Row) throws {
    func json<T: Decodable>(_ column: String) throws -> T? {
      try row.optional(column, as: String.self).map { try JSON.decode(T.self, from: Data($0.utf8)) }
    }
    self.init(
      id: try row.get("id"), owner: try row.get("owner_id"), query: try row.get("query"), slug: try row.get("slug"),
      status: try row.enumValue("status"), visibility: try row.enumValue("visibility"),
      preset: try row.enumValue("preset"), scene: try json("scene"), imageByteCount: try row.optional("image_bytes"),
      failure: try json("failure"), requestContext: try json("request_context"),
      creditsCharged: try row.get("credits_charged"), generationMilliseconds: try row.optional("generation_ms"),
      sequence: try row.get("sequence_id"), parent: try row.optional("parent_id"),
      direction: try row.optional("direction", as: String.self).flatMap(JumpDirection.init(rawValue:)),
      blobFolder: try row.optional("blob_folder"), blobWrittenAt: try row.optional("blob_written_at"),
      createdAt: try row.get("created_at"), endedAt: try row.optional("ended_at"),
      deletedAt: try row.optional("deleted_at"))
  }
}
