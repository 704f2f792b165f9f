import Database
import EventFeed
import Foundation
import Wire

/// Moves tasks in the stored order, in a transaction that locks their list, so that concurrent moves are applied one
/// after another.
enum TaskOrderStore {
  /// - Parameter ifMatch: the versions of the first task to which the move applies.
  /// - Throws: 404 for tasks that the user may not read, 403 for viewers, 412 when a task has another version, 422 for
  ///   tasks that are not siblings.
  static func move(
    _ moves: [TaskOrder.Move], of list: Int, by user: UserID, ifMatch: IfMatch = .any, at now: Date,
    on db: any Connection
  ) throws {
    let locked = try ListStore.lock(list, for: user, on: db)
    guard let first = moves.first else { return }
    let task = try TaskDetails.task(TaskReference(id: first.id, list: list), for: user, on: db)
    try ifMatch.require(task.revision)
    let rows = try tasks(of: list, below: task.parent, on: db)
    let revisions = try rows.reduce(into: [Int: Int]()) { $0[try $1.get("id")] = try $1.get("revision") }
    for move in moves {
      if let version = move.version, let revision = revisions[move.id], version != revision {
        throw Failure.changedMeanwhile
      }
    }
    let order = TaskOrder(items: try rows.map { .init(id: try $0.get("id"), position: try $0.get("position")) })
    let changes = try order.changes(moves)
    for start in stride(from: 0, to: changes.count, by: Self.updateMax) {
      try db.change(update(Array(changes[start...].prefix(Self.updateMax)), at: locked.revision))
    }
    if let parent = task.parent {
      try db.change("update task set revision = \(locked.revision) where id = \(parent)")
    }
    TaskEvents.reordered(
      changes, try rowChanges(changes, first: task, at: locked.revision, on: db), below: task.parent, of: list,
      at: locked.revision, by: user, now: now, on: db)
  }

  /// - Parameter first: the first task that was moved, which is often the only one, and as it was before.
  private static func rowChanges(
    _ changes: [TaskOrder.Item], first task: ListTask, at revision: Int, on db: any Connection
  ) throws -> [EventChange] {
    guard EventFeed.isRecording(on: db) else { return [] }
    if changes.count == 1, changes[0].id == task.id {
      return [TaskEvents.moved(task, to: changes[0].position, at: revision)]
    }
    return try TaskRows.updates(of: changes.map(\.id), on: db)[task.list] ?? []
  }

  private static let updateMax = 512

  /// Updates several positions in one statement.
  private static func update(_ items: [TaskOrder.Item], at revision: Int) -> SQL {
    // Padded with copies of the last item to the lengths of `padded`, so that a connection caches few statements.
    let padded = items + Array(repeating: items[items.count - 1], count: items.map(\.id).padded.count - items.count)
    var statement = SQL.StringInterpolation(
      literalCapacity: 64 * padded.count, interpolationCount: 2 * padded.count + 1)
    statement.appendLiteral("update task set position = moved.column2, revision = ")
    statement.appendInterpolation(revision)
    statement.appendLiteral(" from (values ")
    for (index, item) in padded.enumerated() {
      statement.appendLiteral(index == 0 ? "(cast(" : ", (cast(")
      statement.appendInterpolation(item.id)
      statement.appendLiteral(" as bigint), cast(")
      statement.appendInterpolation(item.position)
      statement.appendLiteral(" as bigint))")
    }
    statement.appendLiteral(") as moved where task.id = moved.column1")
    return SQL(stringInterpolation: statement)
  }

  /// The list of each task. All must be tasks that the user may read.
  ///
  /// - Throws: 404 for any other task.
  static func lists(of tasks: [Int], for user: UserID, on db: any Connection) throws -> [Int: Int] {
    let lists = try tasks.chunks.reduce(into: [Int: Int]()) { lists, ids in
      let rows = try db.rows(
        """
        select task.id, task.list_id from task join list on list.id = task.list_id
          left join membership on membership.list_id = task.list_id and membership.user_id = \(user)
        where task.id in (\(list: ids.padded)) and task.deleted_at is null and list.deleted_at is null
          and (list.owner_id = \(user) or membership.user_id is not null)
        """)
      for row in rows { lists[try row.get("id")] = try row.get("list_id") }
    }
    guard tasks.allSatisfy({ lists[$0] != nil }) else { throw Failure.taskNotFound }
    return lists
  }

  /// The siblings below `parent`, or the tasks of the list, in order.
  private static func tasks(of list: Int, below parent: Int?, on db: any Connection) throws -> [Row] {
    if let parent {
      return try db.rows(
        """
        select id, position, revision from task where parent_id = \(parent) and deleted_at is null
        order by position, id
        """)
    }
    return try db.rows(
      """
      select id, position, revision from task where list_id = \(list) and parent_id is null and deleted_at is null
      order by position, id
      """)
  }
}
