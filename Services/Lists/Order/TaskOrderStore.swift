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
    for item in try order.changes(moves) {
      try db.change("update task set position = \(item.position), revision = \(held.revision) where id = \(item.id)")
    }
    if let parent = task.parent {
      try db.change("update task set revision = \(held.revision) where id = \(parent)")
    }
  }

  /// The lists of tasks that the user can see.
  static func lists(of tasks: [Int], for user: UserID, on db: any Connection) throws -> [Int: Int] {
    try tasks.reduce(into: [:]) { lists, id in
      lists[id] = try TaskView.task(TaskPlace(id: id), for: user, on: db).list
    }
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
