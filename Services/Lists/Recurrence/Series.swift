import Database
import Foundation
import Wire

/// The tasks of a series, of which each is followed by the next one when it is done.
enum Series {
  /// Puts the next task of a series on its list, which is held: where the done one was, with its tags and its sub-tasks.
  /// However often that one is reopened and completed again, it is followed once.
  ///
  /// - Parameters:
  ///   - tasks: how many the list has.
  ///   - text: by how much the text on the list has grown with the change that completed the task.
  /// - Throws: 409 when the list is full: the series is not to end unnoticed.
  static func follow(
    _ done: ListTask, withID id: Int, at position: Int, in list: List, with tasks: Int, grownBy text: Int,
    by doer: Doer, at now: Date, on db: any Connection
  ) throws {
    guard done.parent == nil, let recurrence = done.recurrence, let next = recurrence.next(at: now) else { return }
    let task = done.again(
      below: nil, dueAt: done.dueAt.map { _ in next.time }, recurrence.following(id, at: next), at: list.revision, now)
    let row = try db.row(TaskStore.insertion(of: task, at: position, following: id))
    guard let new: Int = try row?.get("id") else { return }
    let parts = try TaskView.subtasks(of: id, on: db)
    guard tasks < List.tasksMax, list.subtaskCount + parts.count <= List.subtasksMax else {
      throw Failure.listFull
    }
    let again = parts.map { part in
      part.again(
        below: new, dueAt: part.dueAt.flatMap { recurrence.moved($0, to: next) }, nil, at: list.revision, now)
    }
    try list.requireRoom(forText: ([task] + again).reduce(text) { $0 + $1.textSize })
    for (part, again) in zip(parts, again) {
      try db.later(TaskStore.insertion(of: again, at: part.position, following: part.id))
    }
    try TextSizes.count(new: [task] + again, on: db)
    try copyTags(to: new, on: db)
    try TaskStore.note([TaskEvent(.created, by: doer.user, at: now)], of: new, by: doer, on: db)
    try TaskStore.count(1, completed: 0, in: list.id, on: db)
    try TaskStore.countSubtasks(parts.count, in: list.id, on: db)
  }

  /// To a task and its sub-tasks, from those that they follow.
  private static func copyTags(to task: Int, on db: any Connection) throws {
    do {
      try db.change(
        """
        insert into task_tag (task_id, tag_id)
        select n.id, o.tag_id from task n join task_tag o on o.task_id = n.previous_id
        where n.id = \(task) or n.parent_id = \(task)
        """)
    } catch DatabaseFailure.foreignKey {
      // Somebody has deleted theirs since.
      throw DatabaseFailure.contended
    }
  }
}

extension ListTask {
  /// The same to be done anew, not stored yet.
  fileprivate func again(
    below parent: Int?, dueAt: Date?, _ recurrence: Recurrence?, at revision: Int, _ now: Date
  ) -> ListTask {
    ListTask(
      id: 0, list: list, listName: listName, listColor: listColor, color: color, role: role, parent: parent,
      clientID: nil, creator: creator, assignee: assignee, title: title, note: note, dueAt: dueAt, status: .pending,
      requiresExplanation: requiresExplanation, priority: priority, starred: starred,
      strictMode: strictMode && dueAt != nil, position: position, revision: revision,
      createdAt: now, updatedAt: now, isHidden: isHidden, recurrence: recurrence, location: location)
  }
}
