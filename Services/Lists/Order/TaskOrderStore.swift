import Database
import Foundation
import Wire

/// Moves tasks within the order that the database has, under the lock of their list: whoever comes second moves within
/// the order that the first has made.
enum TaskOrderStore {
  /// - Parameter expected: the versions of the first task that the move is meant for.
  /// - Throws: 404 for tasks that the user cannot see, 403 for viewers, 412 when the first is another version by now, 422
  ///   for tasks that do not lie beside each other.
  static func move(
    _ moves: [TaskOrder.Move], of list: Int, by user: UserID, expecting expected: Expectation = .any,
    on db: any Connection
  ) throws {
    guard let first = moves.first else { return }
    let held = try ListStore.hold(list, for: user, on: db)
    let task = try TaskView.task(TaskPlace(id: first.id, list: list), for: user, on: db)
    try expected.require(task.revision)
    for item in try order(of: list, below: task.parent, on: db).changes(moves) {
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

  private static func order(of list: Int, below parent: Int?, on db: any Connection) throws -> TaskOrder {
    let rows =
      if let parent {
        try db.rows(
          "select id, position from task where parent_id = \(parent) and deleted_at is null order by position, id")
      } else {
        try db.rows(
          """
          select id, position from task where list_id = \(list) and parent_id is null and deleted_at is null
          order by position, id
          """)
      }
    return TaskOrder(items: try rows.map { TaskOrder.Item(id: try $0.get("id"), position: try $0.get("position")) })
  }
}
