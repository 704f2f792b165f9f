import Database
import Foundation
import Wire

/// Every statement on tags, each within a transaction of the caller's.
enum TagStore {
  static func tags(of user: UserID, on db: any Connection) throws -> [OwnTag] {
    try db.rows("select \(ownTagColumns) from tag g where g.user_id = \(user) order by g.name_folded").map(OwnTag.init)
  }

  /// - Throws: 404 for somebody else's.
  static func tag(_ id: Int, of user: UserID, on db: any Connection) throws -> OwnTag {
    let row = try db.row("select \(ownTagColumns) from tag g where g.id = \(id) and g.user_id = \(user)")
    guard let row else { throw Failure.tagNotFound }
    return try OwnTag(row)
  }

  /// - Throws: 422 for a name that the user has, in whatever case; 409 over ``Tag/ownedMax``, which is not exact when
  ///   somebody makes several at the very same time.
  static func create(_ change: TagChange, of user: UserID, at now: Date, on db: any Connection) throws -> OwnTag {
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
    return OwnTag(
      tag: Tag(id: try row.get("id"), name: name, color: change.color.value), createdAt: now.wholeMilliseconds,
      taskCount: 0)
  }

  /// The tasks and lists that have it change with it.
  static func change(_ id: Int, of user: UserID, to change: TagChange, at now: Date, on db: any Connection) throws {
    let tag = try tag(id, of: user, on: db).tag
    let name = change.name ?? tag.name
    do {
      try db.change(
        """
        update tag set name = \(name), name_folded = \(name.lowercased()), color = \(change.color.or(tag.color)),
          updated_at = \(now) where id = \(id) and user_id = \(user)
        """)
    } catch DatabaseFailure.unique("tag_name") { throw Failure.tagNameTaken }
    try touch(id, on: db)
  }

  static func delete(_ id: Int, of user: UserID, on db: any Connection) throws {
    guard try held([id], of: user, on: db) == 1 else { throw Failure.tagNotFound }
    try touch(id, on: db)
    try db.change("delete from tag where id = \(id) and user_id = \(user)")
  }

  /// For what is on tasks, by name.
  static func query(on tasks: [Int]) -> SQL {
    """
    select o.task_id, g.id, g.name, g.color from task_tag o join tag g on g.id = o.tag_id
    where o.task_id in (\(list: tasks.padded)) order by g.name_folded, g.id
    """
  }

  /// The tags that a task has from now on: those of the user's own, and any that it has already.
  ///
  /// - Throws: 422 for others.
  static func set(_ tags: [Int], on task: Int, by user: UserID, on db: any Connection) throws {
    if !tags.isEmpty {
      let own = try held(tags, of: user, on: db)
      let others = try db.rows(
        """
        select g.id from task_tag o join tag g on g.id = o.tag_id
        where o.task_id = \(task) and g.id in (\(list: tags.padded)) and g.user_id <> \(user)
        """)
      guard own + others.count == tags.count else { throw Failure.invalid(.init("tag_ids", "must be tags of yours")) }
    }
    try db.change("delete from task_tag where task_id = \(task)")
    do {
      for tag in tags { try db.change("insert into task_tag (task_id, tag_id) values (\(task), \(tag))") }
    } catch DatabaseFailure.foreignKey {
      // Somebody has deleted theirs since.
      throw DatabaseFailure.contended
    }
  }

  /// Takes somebody's tags off a list that is held and off all of its tasks: who may not change it any more
  /// cannot do so by their names, either.
  static func takeAway(from list: Int, of user: UserID, on db: any Connection) throws {
    try db.change(
      """
      update task set revision = (select l.revision from list l where l.id = \(list)) where list_id = \(list) and id in (
        select o.task_id from tag g join task_tag o on o.tag_id = g.id where g.user_id = \(user))
      """)
    try db.change(
      """
      delete from task_tag where tag_id in (select g.id from tag g where g.user_id = \(user))
        and task_id in (select t.id from task t where t.list_id = \(list))
      """)
    try db.change(
      """
      delete from list_tag where list_id = \(list) and tag_id in (select g.id from tag g where g.user_id = \(user))
      """)
  }

  /// How many of these are the user's own. Until the end nobody else changes or deletes them, so that it is known which
  /// tasks and lists have them.
  static func held(_ tags: [Int], of user: UserID, on db: any Connection) throws -> Int {
    try db.change(
      "update tag set updated_at = updated_at where id in (\(list: tags.padded)) and user_id = \(user)")
  }

  /// Shows the tasks and lists that have it as changed.
  private static func touch(_ tag: Int, on db: any Connection) throws {
    try db.change(
      """
      update list set revision = revision + 1 where id in (
        select t.list_id from task_tag o join task t on t.id = o.task_id where o.tag_id = \(tag)
        union select o.list_id from list_tag o where o.tag_id = \(tag))
      """)
    try db.change("update list set version = revision where id in (select list_id from list_tag where tag_id = \(tag))")
    try db.change(
      """
      update task set revision = (select l.revision from list l where l.id = task.list_id)
      where id in (select task_id from task_tag where tag_id = \(tag))
      """)
  }
}

private let ownTagColumns: SQL = """
  g.id, g.name, g.color, g.created_at, (
    select count(*) from task_tag o join task t on t.id = o.task_id join list l on l.id = t.list_id
    where o.tag_id = g.id and t.deleted_at is null and l.deleted_at is null) as task_count
  """

extension Tag {
  init(_ row: Row) throws {
    self.init(id: try row.get("id"), name: try row.get("name"), color: try row.optional("color"))
  }
}

extension OwnTag {
  fileprivate init(_ row: Row) throws {
    self.init(tag: try Tag(row), createdAt: try row.get("created_at"), taskCount: try row.get("task_count"))
  }
}
