/// Ends cached rights as soon as the log says that they have changed.
struct RightsObserver: LogObserver {
  let rights: TopicRights

  func appended(_ event: AppendedEvent) {
    if !event.access.isEmpty { rights.apply(event.access) }
  }

  func logWasReplaced() {}
}
