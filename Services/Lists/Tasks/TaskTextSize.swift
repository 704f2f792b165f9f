import Database
import Foundation
import Wire

/// The size of a task's texts. It is limited per task and per list, because one response contains all of them.
extension ListTask {
  /// The texts that users have entered.
  private var texts: [String?] { [title, note, missedReason, color, location?.name] }

  /// In bytes of a response, including the reasons of reschedules.
  var textSize: Int { texts.reduce(reasonSize) { $0 + ($1?.sizeInJSON ?? 0) } }

  /// The limit for a task with its sub-tasks.
  static let textSizeMax = 256 * 1024
}

extension List {
  /// - Throws: 409 when the list would exceed ``textSizeMax``.
  func requireRoom(forText size: Int) throws(Failure) {
    guard size <= 0 || textSize + size <= Self.textSizeMax else { throw .listFull }
  }
}

/// All statements on the `text_size` columns, each inside a transaction that has locked the list.
enum TextSizeStore {
  /// - Throws: 409 when the list, or the task with its sub-tasks, would exceed its limit.
  static func require(from old: ListTask, to new: ListTask, in list: List, on db: any Connection) throws {
    let more = new.textSize - old.textSize
    guard more > 0 else { return }
    try list.requireRoom(forText: more)
    let whole = old.parent ?? old.id
    let row = try db.row(
      """
      select cast(coalesce(sum(size), 0) as bigint) as size from (
        select text_size as size from task where id = \(whole)
        union all select text_size from task where parent_id = \(whole) and deleted_at is null) sizes
      """)
    guard try (row?.get("size") ?? 0) + more <= ListTask.textSizeMax else { throw Failure.listFull }
  }

  /// Updates the size of the list; to be called before the task row is updated.
  static func count(from old: ListTask, to new: ListTask, on db: any Connection) throws {
    if new.deletedAt != nil {
      return try db.enqueue(
        """
        update list set text_size = text_size - (
          select cast(coalesce(sum(size), 0) as bigint) from (
            select text_size as size from task where id = \(old.id)
            union all select text_size from task where parent_id = \(old.id) and deleted_at is null) sizes)
        where id = \(old.list)
        """)
    }
    // The stored size may differ from that of the old texts: older rows were only estimated, and an erasure deletes
    // texts without updating it.
    try db.enqueue(
      """
      update list set text_size = text_size + \(new.textSize) - (select text_size from task where id = \(old.id))
      where id = \(old.list) and exists (
        select 1 from task where id = \(old.id) and text_size <> \(new.textSize))
      """)
  }

  /// Adds the sizes of new tasks of one list.
  static func count(new tasks: [ListTask], on db: any Connection) throws {
    guard let list = tasks.first?.list else { return }
    let size = tasks.reduce(0) { $0 + $1.textSize }
    try db.enqueue("update list set text_size = text_size + \(size) where id = \(list)")
  }
}

extension String {
  /// The number of bytes inside the quotes of a JSON string, as `JSON` encodes it: slashes are not escaped.
  var sizeInJSON: Int {
    utf8.reduce(0) { size, byte in
      switch byte {
      case 0x08, 0x09, 0x0A, 0x0C, 0x0D, 0x22, 0x5C: size + 2
      case ..<0x20: size + 6
      default: size + 1
      }
    }
  }
}
