import Database
import Foundation
import Wire

/// All statements on the `tag` and `task_tag` tables, each inside a transaction of the caller.
enum TagStore {
  static func tags(of user: UserID, on db: any Connection) throws -> [OwnedTag] {
    try db.rows("select \(ownedTagColumns) from tag where user_id = \(user) order by name_folded")
      .map(OwnedTag.init)
  }

  /// - Throws: 404 for another user's tag.
  static func tag(_ id: Int, of user: UserID, on db: any Connection) throws -> OwnedTag {
    let row = try db.row("select \(ownedTagColumns) from tag where id = \(id) and user_id = \(user)")
    guard let row else { throw Failure.tagNotFound }
    return try OwnedTag(row)
  }

  /// - Throws: 422 for a name that another tag of the user has, ignoring case; 409 over ``Tag/ownedMax``, which is not
  ///   exact when a user creates several tags concurrently.
  static func create(_ change: TagChange, of user: UserID, at now: Date, on db: any Connection) throws -> OwnedTag {
    let owned = try db.row("select count(*) as tags from tag where user_id = \(user)")
    guard try owned?.get("tags") ?? 0 < Tag.ownedMax else { throw Failure.tooManyTags }
    let name = change.name ?? ""
    let row = try db.row(
      """
      insert into tag (user_id, name, name_folded, color, created_at, updated_at)
      values (\(user), \(name), \(name.lowercased()), \(change.color.value), \(now), \(now))
      on conflict (user_id, name_folded) do nothing returning id
      """)
    guard let row else { throw Failure.tagNameTaken }
    return OwnedTag(
      tag: Tag(id: try row.get("id"), name: name, color: change.color.value), createdAt: now.wholeMilliseconds,
      taskCount: 0)
  }

  /// Also marks the tasks and lists that have the tag as changed.
  static func change(_ id: Int, of user: UserID, to change: TagChange, at now: Date, on db: any Connection) throws {
    let tag = try tag(id, of: user, on: db).tag
    let (name, color) = (change.name ?? tag.name, change.color.applied(to: tag.color))
    do {
      try db.change(
        """
        update tag set name = \(name), name_folded = \(name.lowercased()), color = \(color),
          updated_at = \(now) where id = \(id) and user_id = \(user)
        """)
    } catch DatabaseFailure.unique("tag_name") { throw Failure.tagNameTaken }
    ListEvents.tagChanged(id, of: user, on: try touch(id, on: db), at: now, on: db)
  }

  static func delete(_ id: Int, of user: UserID, at now: Date, on db: any Connection) throws {
    guard try lockOwned([id], of: user, on: db) == 1 else { throw Failure.tagNotFound }
    ListEvents.tagChanged(id, of: user, on: try touch(id, on: db), at: now, on: db)
    try db.change("delete from tag where id = \(id) and user_id = \(user)")
  }

  /// The tags of these tasks, sorted by name.
  static func query(on tasks: [Int]) -> SQL {
    """
    select task_tag.task_id, tag.id, tag.name, tag.color from task_tag join tag on tag.id = task_tag.tag_id
    where task_tag.task_id in (\(list: tasks.padded)) order by tag.name_folded, tag.id
    """
  }

  /// Replaces the tags of a task. Allowed are the user's own tags, and those that the task already has.
  ///
  /// - Throws: 422 for other tags.
  static func set(_ tags: [Int], on task: Int, by user: UserID, on db: any Connection) throws {
    if !tags.isEmpty {
      let own = try lockOwned(tags, of: user, on: db)
      let others = try db.rows(
        """
        select tag.id from task_tag join tag on tag.id = task_tag.tag_id
        where task_tag.task_id = \(task) and tag.id in (\(list: tags.padded)) and tag.user_id <> \(user)
        """)
      guard own + others.count == tags.count else { throw Failure.foreignTags }
    }
    try db.change("delete from task_tag where task_id = \(task)")
    do {
      for tag in tags { try db.change("insert into task_tag (task_id, tag_id) values (\(task), \(tag))") }
    } catch DatabaseFailure.foreignKey {
      // A concurrent request has deleted one of the tags.
      throw DatabaseFailure.contended
    }
  }

  /// Removes a user's tags from a list that the transaction has locked, and from its tasks: a user who may no longer
  /// change the list must not change it by renaming tags.
  static func removeTags(from list: Int, of user: UserID, on db: any Connection) throws {
    try db.change(
      """
      update task set revision = (select revision from list where id = \(list)) where list_id = \(list) and id in (
        select task_tag.task_id from tag join task_tag on task_tag.tag_id = tag.id where tag.user_id = \(user))
      """)
    try db.change(
      """
      delete from task_tag where tag_id in (select id from tag where user_id = \(user))
        and task_id in (select id from task where list_id = \(list))
      """)
    try db.change(
      """
      delete from list_tag where list_id = \(list) and tag_id in (select id from tag where user_id = \(user))
      """)
  }

  /// Locks the user's own tags among these until the end of the transaction, so that no other transaction changes or
  /// deletes them meanwhile.
  ///
  /// - Returns: how many of them are the user's own.
  static func lockOwned(_ tags: [Int], of user: UserID, on db: any Connection) throws -> Int {
    try db.change(
      "update tag set updated_at = updated_at where id in (\(list: tags.padded)) and user_id = \(user)")
  }

  /// Sets new revisions on the tasks and lists that have the tag, and returns these lists.
  private static func touch(_ tag: Int, on db: any Connection) throws -> [Int] {
    let lists = try db.rows(
      """
      update list set revision = revision + 1 where id in (
        select task.list_id from task_tag join task on task.id = task_tag.task_id where task_tag.tag_id = \(tag)
        union select list_id from list_tag where tag_id = \(tag)) returning id
      """)
    try db.change("update list set version = revision where id in (select list_id from list_tag where tag_id = \(tag))")
    try db.change(
      """
      update task set revision = (select list.revision from list where list.id = task.list_id)
      where id in (select task_id from task_tag where tag_id = \(tag))
      """)
    return try lists.map { try $0.get("id") }
  }
}

private let ownedTagColumns: SQL = """
  tag.id, tag.name, tag.color, tag.created_at, (
    select count(*) from task_tag join task on task.id = task_tag.task_id join list on list.id = task.list_id
    where task_tag.tag_id = tag.id and task.deleted_at is null and list.deleted_at is null) as task_count
  """

extension Tag {
  init(_ row: Row) throws {
    self.init(id: try row.get("id"), name: try row.get("name"), color: try row.optional("color"))
  }
}

extension OwnedTag {
  fileprivate init(_ row: Row) throws {
    self.init(tag: try Tag(row), createdAt: try row.get("created_at"), taskCount: try row.get("task_count"))
  }
}
