import Database
import Foundation
import Wire

/// All statements on the `list` table, each inside a transaction of the caller. Every query is restricted to the lists
/// of the calling user.
enum ListStore {
  /// - Throws: 404 unless the user owns the list or is a member.
  static func list(_ id: Int, for user: UserID, on db: any Connection) throws -> List {
    try list(in: db.rows(query(id, for: user)))
  }

  private static func query(_ id: Int, for user: UserID) -> SQL {
    """
    select \(listColumns), case when list.owner_id = \(user) then 'owner' else membership.role end as role
    from list left join membership on membership.list_id = list.id and membership.user_id = \(user)
    where list.id = \(id) and list.deleted_at is null and (list.owner_id = \(user) or membership.user_id is not null)
    """
  }

  private static func list(in rows: [Row]) throws -> List {
    guard let row = rows.first else { throw Failure.listNotFound }
    return try List(row)
  }

  /// The lists that a user owns or is a member of, oldest first, each with its `overdue_count`; at most `limit`.
  static func allQuery(of user: UserID, at now: Date, limit: Int) -> SQL {
    """
    select \(listColumns), 'owner' as role, \(countOfTasksDueBefore) \(now)) as overdue_count
    from list where owner_id = \(user) and deleted_at is null
    union all
    select \(listColumns), membership.role, \(countOfTasksDueBefore) \(now)) as overdue_count
    from membership join list on list.id = membership.list_id
    where membership.user_id = \(user) and list.deleted_at is null
    order by id limit \(limit)
    """
  }

  /// The same for the lists in `ids`.
  static func query(_ ids: [Int], for user: UserID, at now: Date) -> SQL {
    """
    select \(listColumns), case when list.owner_id = \(user) then 'owner' else membership.role end as role,
      \(countOfTasksDueBefore) \(now)) as overdue_count
    from list left join membership on membership.list_id = list.id and membership.user_id = \(user)
    where list.id in (\(list: ids.padded)) and list.deleted_at is null
      and (list.owner_id = \(user) or membership.user_id is not null)
    order by list.id
    """
  }

  /// The `id`, `revision` and `member_count` of every list that a user owns or is a member of, oldest first.
  static func revisions(of user: UserID, on db: any Connection) throws -> [Row] {
    try db.rows(
      """
      select id, revision, member_count from list where owner_id = \(user) and deleted_at is null
      union all
      select list.id, list.revision, list.member_count from membership join list on list.id = membership.list_id
      where membership.user_id = \(user) and list.deleted_at is null order by id
      """)
  }

  /// The `overdue_count` of one list.
  static func overdueQuery(of list: Int, at now: Date) -> SQL {
    "select \(countOfTasksDueBefore) \(now)) as overdue_count from list where id = \(list)"
  }

  /// Increments the list's revision, which locks its row, so that no other transaction changes the list or its tasks
  /// before this one ends.
  ///
  /// - Parameter allowingViewers: whether viewers may lock it too.
  /// - Throws: 404 for non-members, 403 for viewers.
  @discardableResult
  static func lock(_ id: Int, for user: UserID, allowingViewers: Bool = false, on db: any Connection) throws -> List {
    let found = try db.rows(of: [
      """
      update list set revision = revision + 1 where id = \(id) and deleted_at is null and (owner_id = \(user)
        or exists (select 1 from membership where membership.list_id = list.id and membership.user_id = \(user)
          and role in (\(list: allowingViewers ? Membership.roles : [ListRole.editor.rawValue])))) returning id
      """,
      // Read after the lock, when no other transaction can change the members.
      query(id, for: user),
    ])
    let list = try list(in: found[1])
    if !allowingViewers { try list.role.requireEditor() }
    guard found[0].count == 1 else { throw DatabaseFailure.contended }
    return list
  }

  /// - Throws: 409 over ``List/ownedMax``. The limit is not exact when a user creates several lists concurrently: it
  ///   only bounds the number.
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
    let id: Int = try row.get("id")
    ListEvents.created(list, withID: id, at: list.createdAt, on: db)
    return id
  }

  /// Stores the changed columns of a list that the transaction has locked.
  static func save(_ list: List, at now: Date, on db: any Connection) throws {
    try db.change(
      """
      update list set name = \(list.name), description = \(list.description), visibility = \(list.visibility),
        color = \(list.color), list_type = \(list.type), has_tags = \(list.hasTags), version = revision,
        updated_at = \(now) where id = \(list.id)
      """)
  }

  /// Soft-deletes a list that the transaction has locked.
  static func delete(_ list: List, by user: UserID, at now: Date, on db: any Connection) throws {
    ListEvents.deleted(list.id, by: user, at: now, on: db)
    try db.change("update list set deleted_at = \(now), version = revision where id = \(list.id)")
  }

  /// The deletion times of those lists in `ids` that were deleted and that the user owned or was a member of.
  static func deletions(of ids: [Int], for user: UserID, on db: any Connection) throws -> [Int: Date] {
    let rows = try db.rows(
      """
      select id, deleted_at from list
      where id in (\(list: ids.padded)) and deleted_at is not null and (owner_id = \(user)
        or exists (select 1 from membership where membership.list_id = list.id and membership.user_id = \(user)))
      """)
    return try rows.reduce(into: [:]) { $0[try $1.get("id", as: Int.self)] = try $1.get("deleted_at", as: Date.self) }
  }
}

private let listColumns: SQL = """
  list.id, list.owner_id, list.name, list.description, list.visibility, list.color, list.task_count,
  list.completed_count, list.subtask_count, list.member_count, list.revision, list.version, list.created_at,
  list.updated_at, list.text_size, list.list_type, list.has_tags
  """

/// `due_at > '-infinity'` is always true, on both engines. It is for PostgreSQL: its planner estimates that a range
/// selects few rows and keeps a generic plan, where it would replan `due_at < $1` for each execution, which takes four
/// times as long as the query itself.
private let countOfTasksDueBefore: SQL = """
  (select count(*) from task where task.list_id = list.id and task.parent_id is null and task.deleted_at is null
    and task.completed_at is null and task.due_at > '-infinity' and task.due_at <
  """

extension List {
  init(_ row: Row) throws {
    self.init(
      id: try row.get("id"), owner: try row.get("owner_id"), name: try row.get("name"),
      description: try row.optional("description"), visibility: try row.get("visibility"),
      color: try row.get("color"), type: try row.optional("list_type"), hasTags: try row.get("has_tags"),
      role: try row.enumValue("role"), taskCount: try row.get("task_count"),
      completedCount: try row.get("completed_count"), subtaskCount: try row.get("subtask_count"),
      memberCount: try row.get("member_count"),
      revision: try row.get("revision"), version: try row.get("version"), createdAt: try row.get("created_at"),
      updatedAt: try row.get("updated_at"), textSize: try row.get("text_size"))
  }
}

extension Array where Element: Sendable {
  /// The values, padded with copies of the last one to 1, 8, 64 or 512. Each length of an `in (…)` list is a separate
  /// prepared statement, and a connection caches only a limited number of them.
  var padded: [Element] {
    guard let last, let length = [1, 8, 64, 512].first(where: { $0 >= count }) else { return self }
    return self + Array(repeating: last, count: length - count)
  }

  /// Chunks of at most 512, the longest length that ``padded`` produces.
  var chunks: [[Element]] { stride(from: 0, to: count, by: 512).map { Array(self[$0..<Swift.min($0 + 512, count)]) } }
}
