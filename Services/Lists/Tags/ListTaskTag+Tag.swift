import ClientBodies

extension ClientBodies.ListTask.Tag {
  /// A tag on a task or list.
  init(_ tag: Lists.Tag) { self.init(id: tag.id, name: tag.name, color: tag.color) }

  init(_ own: OwnedTag) {
    self.init(
      id: own.tag.id, name: own.tag.name, color: own.tag.color, createdAt: own.createdAt, tasksCount: own.taskCount)
  }
}
