/// Ends cached rights as soon as the log says that they have changed.
struct RightsObserver: LogObserver {
  let rights: TopicRights

  func appended(_ events: [AppendedEvent]) {
    for event in events where !event.access.isEmpty { rights.apply(event.access) }
  }

  func logWasReplaced() {}
}
