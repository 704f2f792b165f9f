import Database
import EventFeed
import Foundation
import Wire

/// The events of tasks and sub-tasks, on the topic of their list.
enum TaskEvents {
  /// How many positions an event of a new order contains. When more have changed, they are in the rows.
  private static let positionsMax = 100

  /// - Parameter subtasks: the rows of those with which it was made.
  static func created(
    _ task: ListTask, withID id: Int, at position: Int, subtasks: [EventChange] = [], by user: UserID,
    on db: any Connection
  ) {
    EventFeed.record(
      "task_created", to: [EventTopic.list(task.list)], task.payload(id: id, revision: task.revision, by: user),
      change: .of(
        "tasks", .insert, key: ["id": id],
        task.record(position: position, revision: task.revision, at: task.updatedAt)),
      changes: subtasks, of: user, at: task.updatedAt, on: db)
  }

  /// - Parameters:
  ///   - events: those of the task's history. The first determines the name.
  ///   - subtasks: those that were deleted with it.
  ///   - revision: the list's revision with the change.
  static func changed(
    _ task: ListTask, _ events: [TaskEvent], subtasks: [Int], at revision: Int, by user: UserID, now: Date,
    on db: any Connection
  ) {
    let isDeleted = task.deletedAt != nil
    EventFeed.record(
      isDeleted ? "task_deleted" : name(events), to: [EventTopic.list(task.list)],
      task.payload(id: task.id, revision: revision, by: user),
      change: isDeleted
        ? deletion(task.id)
        : .of(
          "tasks", .update, key: ["id": task.id], task.record(position: task.position, revision: revision, at: now)),
      changes: subtasks.map(deletion), of: user, at: now, on: db)
  }

  private static func deletion(_ task: Int) -> EventChange { .of("tasks", .delete, key: ["id": task]) }

  /// Several tasks of a list are those of somebody no longer, who has left it or whose account is erased.
  ///
  /// - Parameters:
  ///   - rows: after the change.
  ///   - user: nil when an account is erased.
  static func changed(
    _ rows: [EventChange], of list: Int, by user: UserID?, at now: Date, on db: any Connection
  ) {
    guard !rows.isEmpty else { return }
    EventFeed.record(
      "tasks_changed", to: [EventTopic.list(list)], ["list_id": list, "by": user],
      change: rows.first, changes: Array(rows.dropFirst()), of: user, at: now, on: db)
  }

  /// On the topic of the assignee alone.
  static func nudged(_ task: ListTask, _ assignee: UserID, by user: UserID, at now: Date, on db: any Connection) {
    EventFeed.record(
      "task_nudged", to: [EventTopic.user(assignee)],
      ["task_id": task.id, "list_id": task.list, "assignee_id": assignee, "by": user],
      push: PushDetails(subject: task.isHidden ? nil : task.title), of: user, at: now, on: db)
  }

  /// On the topic of who is reminded alone.
  ///
  /// - Parameter isToday: it is due at the end of the day.
  static func dueSoon(
    _ task: RemindedTask, to user: UserID, isToday: Bool, at now: Date, on db: any Connection
  ) {
    EventFeed.record(
      "task_due_soon", to: [EventTopic.user(user)],
      [
        "task_id": task.id, "list_id": task.list, "assignee_id": task.assignee, "due_at": task.dueAt,
        "due": isToday ? "today" : "soon",
      ],
      push: PushDetails(subject: task.isHidden ? nil : task.title, expiresAt: task.dueAt), of: user, at: now, on: db)
  }

  private static func name(_ events: [TaskEvent]) -> String {
    switch events.first?.kind {
    case .completed: "task_completed"
    case .reopened: "task_reopened"
    case .assigned: "task_assigned"
    case .unassigned: "task_unassigned"
    case .reassigned: "task_rescheduled"
    case .created, .deleted, nil: "task_changed"
    }
  }

  /// The row of a task of which nothing has changed but the position.
  static func moved(_ task: ListTask, to position: Int, at revision: Int) -> EventChange {
    .of(
      "tasks", .update, key: ["id": task.id],
      task.record(position: position, revision: revision, at: task.updatedAt))
  }

  /// - Parameters:
  ///   - items: the tasks whose positions have changed.
  ///   - rows: of all of them.
  static func reordered(
    _ items: [TaskOrder.Item], _ rows: [EventChange], below parent: Int?, of list: Int, at revision: Int,
    by user: UserID, now: Date, on db: any Connection
  ) {
    guard !items.isEmpty else { return }
    let positions = items.prefix(positionsMax).map { item in
      ["task_id": item.id, "position": item.position] as EventFields
    }
    EventFeed.record(
      "tasks_reordered", to: [EventTopic.list(list)],
      [
        "list_id": list, "parent_task_id": parent, "positions": positions, "is_complete": items.count <= positionsMax,
        "version": revision, "by": user,
      ], change: rows.first, changes: Array(rows.dropFirst()), of: user, at: now, on: db)
  }
}

extension ListTask {
  fileprivate func payload(id: Int, revision: Int, by user: UserID) -> EventFields {
    [
      "task_id": id, "list_id": list, "parent_task_id": parent, "assignee_id": assignee, "version": revision,
      "by": user,
    ]
  }

  /// The columns of `public.tasks` that are short: the note and the reasons are read with the task.
  fileprivate func record(position: Int, revision: Int, at now: Date) -> EventFields {
    [
      "list_id": list, "parent_task_id": parent, "title": title, "status": status.rawValue, "priority": priority,
      "starred": starred, "hidden": isHidden, "color": color, "due_at": dueAt, "completed_at": completedAt,
      "position": position, "creator_id": creator, "assignee_id": assignee, "version": revision,
      "created_at": createdAt, "updated_at": now,
    ]
  }
}
