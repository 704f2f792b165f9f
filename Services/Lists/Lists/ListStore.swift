import Database
import Foundation
import Wire

/// Every statement on lists, each within a transaction of the caller's. None finds a list without the user who asks.
enum ListStore {
  /// - Throws: 404 unless the user is in the list.
  static func list(_ id: Int, for user: UserID, on db: any Connection) throws -> List {
    try list(in: db.rows(query(id, for: user)))
  }

  private static func query(_ id: Int, for user: UserID) -> SQL {
    """
    select \(listColumns), case when l.owner_id = \(user) then 'owner' else m.role end as role
    from list l left join membership m on m.list_id = l.id and m.user_id = \(user)
    where l.id = \(id) and l.deleted_at is null and (l.owner_id = \(user) or m.user_id is not null)
    """
  }

  private static func list(in rows: [Row]) throws -> List {
    guard let row = rows.first else { throw Failure.listNotFound }
    return try List(row)
  }

  /// The lists that somebody is in, the oldest first, each with its `overdue_count`; at most so many.
  static func allQuery(of user: UserID, at now: Date, limit: Int) -> SQL {
    """
    select \(listColumns), 'owner' as role, \(countOfTasksDueBefore) \(now)) as overdue_count
    from list l where l.owner_id = \(user) and l.deleted_at is null
    union all
    select \(listColumns), m.role, \(countOfTasksDueBefore) \(now)) as overdue_count
    from membership m join list l on l.id = m.list_id where m.user_id = \(user) and l.deleted_at is null
    order by id limit \(limit)
    """
  }

  /// The same for those of `ids`.
  static func query(_ ids: [Int], for user: UserID, at now: Date) -> SQL {
    """
    select \(listColumns), case when l.owner_id = \(user) then 'owner' else m.role end as role,
      \(countOfTasksDueBefore) \(now)) as overdue_count
    from list l left join membership m on m.list_id = l.id and m.user_id = \(user)
    where l.id in (\(list: ids.padded)) and l.deleted_at is null and (l.owner_id = \(user) or m.user_id is not null)
    order by l.id
    """
  }

  /// Every list that somebody is in, the oldest first: its `id`, `revision` and `member_count`.
  static func revisions(of user: UserID, on db: any Connection) throws -> [Row] {
    try db.rows(
      """
      select id, revision, member_count from list where owner_id = \(user) and deleted_at is null
      union all
      select l.id, l.revision, l.member_count from membership m join list l on l.id = m.list_id
      where m.user_id = \(user) and l.deleted_at is null order by id
      """)
  }

  /// The `overdue_count` of one list.
  static func overdueQuery(of list: Int, at now: Date) -> SQL {
    "select \(countOfTasksDueBefore) \(now)) as overdue_count from list l where l.id = \(list)"
  }

  /// The list at its next revision, which the transaction now holds: nobody else changes anything on it before the end.
  ///
  /// - Parameter anyone: also for viewers.
  /// - Throws: 404 for strangers, 403 for viewers.
  static func hold(_ id: Int, for user: UserID, anyone: Bool = false, on db: any Connection) throws -> List {
    let found = try db.rows(of: [
      """
      update list set revision = revision + 1 where id = \(id) and deleted_at is null and (owner_id = \(user)
        or exists (select 1 from membership m where m.list_id = list.id and m.user_id = \(user)
          and m.role in (\(list: anyone ? Membership.roles : [Role.editor.rawValue])))) returning id
      """,
      // Asked again now that nobody can change the members any more.
      query(id, for: user),
    ])
    let list = try list(in: found[1])
    if !anyone { try list.role.requireEditor() }
    guard found[0].count == 1 else { throw DatabaseFailure.contended }
    return list
  }

  /// - Throws: 409 over ``List/ownedMax``. Not exact when somebody makes several at the very same time: it only keeps
  ///   what one person can ask for within bounds.
  static func create(_ list: List, on db: any Connection) throws -> Int {
    let owned = try db.rows(
      "select id from list where owner_id = \(list.owner) and deleted_at is null limit \(List.ownedMax)")
    guard owned.count < List.ownedMax else { throw Failure.tooManyLists }
    let row = try db.row(
      """
      insert into list (owner_id, name, description, visibility, color, list_type, has_tags, created_at, updated_at)
      values (\(list.owner), \(list.name), \(list.description), \(list.visibility), \(list.color), \(list.type),
        \(list.hasTags), \(list.createdAt), \(list.updatedAt)) returning id
      """)
    guard let row else { throw DatabaseFailure.other("a new list has no id") }
    return try row.get("id")
  }

  /// Stores what a change says about a list that is held.
  static func save(_ list: List, at now: Date, on db: any Connection) throws {
    try db.change(
      """
      update list set name = \(list.name), description = \(list.description), visibility = \(list.visibility),
        color = \(list.color), list_type = \(list.type), has_tags = \(list.hasTags), version = revision,
        updated_at = \(now) where id = \(list.id)
      """)
  }

  /// A list that is held stays as a tombstone.
  static func delete(_ list: List, at now: Date, on db: any Connection) throws {
    try db.change("update list set deleted_at = \(now), version = revision where id = \(list.id)")
  }

  /// When lists were deleted that the user was in.
  static func deletions(of ids: [Int], for user: UserID, on db: any Connection) throws -> [Int: Date] {
    let rows = try db.rows(
      """
      select l.id, l.deleted_at from list l
      where l.id in (\(list: ids.padded)) and l.deleted_at is not null and (l.owner_id = \(user)
        or exists (select 1 from membership m where m.list_id = l.id and m.user_id = \(user)))
      """)
    return try rows.reduce(into: [:]) { $0[try $1.get("id", as: Int.self)] = try $1.get("deleted_at", as: Date.self) }
  }
}

private let listColumns: SQL = """
  l.id, l.owner_id, l.name, l.description, l.visibility, l.color, l.task_count, l.completed_count, l.subtask_count,
  l.member_count, l.revision, l.version, l.created_at, l.updated_at, l.text_size, l.list_type, l.has_tags
  """

/// Every time is later than `-infinity`, on both engines. It is there for PostgreSQL: of a range it guesses that few rows
/// are in it, and keeps its plan, where it would plan `due_at < $1` anew each time for four times as long as it runs.
private let countOfTasksDueBefore: SQL = """
  (select count(*) from task t where t.list_id = l.id and t.parent_id is null and t.deleted_at is null
    and t.completed_at is null and t.due_at > '-infinity' and t.due_at <
  """

extension List {
  init(_ row: Row) throws {
    self.init(
      id: try row.get("id"), owner: try row.get("owner_id"), name: try row.get("name"),
      description: try row.optional("description"), visibility: try row.get("visibility"),
      color: try row.get("color"), type: try row.optional("list_type"), hasTags: try row.get("has_tags"),
      role: try Role(row), taskCount: try row.get("task_count"),
      completedCount: try row.get("completed_count"), subtaskCount: try row.get("subtask_count"),
      memberCount: try row.get("member_count"),
      revision: try row.get("revision"), version: try row.get("version"), createdAt: try row.get("created_at"),
      updatedAt: try row.get("updated_at"), textSize: try row.get("text_size"))
  }
}

extension Array where Element: Sendable {
  /// The same values, the last one as often as it takes to one of a few lengths: every length of an `in (…)` is a
  /// statement of its own, of which a connection keeps only so many.
  var padded: [Element] {
    guard let last, let length = [1, 8, 64, 512].first(where: { $0 >= count }) else { return self }
    return self + Array(repeating: last, count: length - count)
  }

  /// In pieces that ``padded`` pads.
  var pieces: [[Element]] { stride(from: 0, to: count, by: 512).map { Array(self[$0..<Swift.min($0 + 512, count)]) } }
}
