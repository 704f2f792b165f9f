import Database
import Foundation
import Wire

/// Creates the next task of a recurring series when one is completed.
enum TaskSeries {
  /// Inserts the next task of a series into its list, which the transaction has locked: at the position of the
  /// completed one, with its tags and sub-tasks. A task that is reopened and completed again gets no second successor.
  ///
  /// - Parameters:
  ///   - tasks: the number of tasks on the list.
  ///   - text: by how many bytes the texts on the list have grown with the change that completed the task.
  /// - Throws: 409 when the list is full, so that a series does not end unnoticed.
  static func createNext(
    _ done: ListTask, withID id: Int, at position: Int, in list: List, with tasks: Int, grownBy text: Int,
    by actingUser: ActingUser, at now: Date, on db: any Connection
  ) throws {
    guard done.parent == nil, let recurrence = done.recurrence, let next = recurrence.next(at: now) else { return }
    let task = done.copy(
      below: nil, dueAt: done.dueAt.map { _ in next.time }, recurrence.advanced(after: id, to: next),
      at: list.revision, now)
    let row = try db.row(TaskStore.insertion(of: task, at: position, following: id))
    guard let new: Int = try row?.get("id") else { return }
    let subtasks = try TaskDetails.subtasks(of: id, on: db)
    guard tasks < List.tasksMax, list.subtaskCount + subtasks.count <= List.subtasksMax else {
      throw Failure.listFull
    }
    let copies = subtasks.map { subtask in
      subtask.copy(
        below: new, dueAt: subtask.dueAt.flatMap { recurrence.moved($0, to: next) }, nil, at: list.revision, now)
    }
    try list.requireRoom(forText: ([task] + copies).reduce(text) { $0 + $1.textSize })
    for (subtask, copy) in zip(subtasks, copies) {
      try db.enqueue(TaskStore.insertion(of: copy, at: subtask.position, following: subtask.id))
    }
    try TextSizeStore.count(new: [task] + copies, on: db)
    try copyTags(to: new, on: db)
    try TaskStore.record([TaskEvent(.created, by: actingUser.user, at: now)], of: new, by: actingUser, on: db)
    let rows = try copies.isEmpty ? [] : TaskRows.insertions(below: new, on: db)
    TaskEvents.created(task, withID: new, at: position, subtasks: rows, by: actingUser.user, on: db)
    try TaskStore.count(1, completed: 0, in: list.id, on: db)
    try TaskStore.countSubtasks(subtasks.count, in: list.id, on: db)
  }

  /// Copies tags to a task and its sub-tasks from their predecessors.
  private static func copyTags(to task: Int, on db: any Connection) throws {
    do {
      try db.change(
        """
        insert into task_tag (task_id, tag_id)
        select task.id, task_tag.tag_id from task join task_tag on task_tag.task_id = task.previous_id
        where task.id = \(task) or task.parent_id = \(task)
        """)
    } catch DatabaseFailure.foreignKey {
      // A concurrent request has deleted one of the tags.
      throw DatabaseFailure.contended
    }
  }
}

extension ListTask {
  /// An open copy of the task, not stored yet.
  fileprivate func copy(
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
