import Database
import Foundation
import Wire

/// Moves tasks within the order that the database has, under the lock of their list: whoever comes second moves within
/// the order that the first has made.
enum TaskOrderStore {
  /// - Parameter expected: the versions of the first task that the move is meant for.
  /// - Throws: 404 for tasks that the user cannot see, 403 for viewers, 412 when one is another version by now, 422 for
  ///   tasks that do not lie beside each other.
  static func move(
    _ moves: [TaskOrder.Move], of list: Int, by user: UserID, expecting expected: Expectation = .any,
    on db: any Connection
  ) throws {
    let held = try ListStore.hold(list, for: user, on: db)
    guard let first = moves.first else { return }
    let task = try TaskView.task(TaskPlace(id: first.id, list: list), for: user, on: db)
    try expected.require(task.revision)
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
      try db.change(update(Array(changes[start...].prefix(Self.updateMax)), at: held.revision))
    }
    if let parent = task.parent {
      try db.change("update task set revision = \(held.revision) where id = \(parent)")
    }
  }

  private static let updateMax = 512

  /// New positions in one statement.
  private static func update(_ items: [TaskOrder.Item], at revision: Int) -> SQL {
    // As many as their ids would be, so that a connection keeps few statements: the last one comes again.
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

  /// The lists of tasks that the user can see.
  ///
  /// - Throws: 404 when there is another among them.
  static func lists(of tasks: [Int], for user: UserID, on db: any Connection) throws -> [Int: Int] {
    let lists = try tasks.pieces.reduce(into: [Int: Int]()) { lists, ids in
      let rows = try db.rows(
        """
        select t.id, t.list_id from task t join list l on l.id = t.list_id
          left join membership m on m.list_id = t.list_id and m.user_id = \(user)
        where t.id in (\(list: ids.padded)) and t.deleted_at is null and l.deleted_at is null
          and (l.owner_id = \(user) or m.user_id is not null)
        """)
      for row in rows { lists[try row.get("id")] = try row.get("list_id") }
    }
    guard tasks.allSatisfy({ lists[$0] != nil }) else { throw Failure.taskNotFound }
    return lists
  }

  /// What lies beside each other, in order.
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
