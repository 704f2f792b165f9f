import Synchronization
import Wire

/// Which users have which topics open in this process, on a socket or an event stream.
final class LiveTopics: Sendable {
  private struct Key: Hashable {
    let topic: String
    let user: UserID
  }

  private let counts = Mutex<[Key: Int]>([:])
  private let shared: OpenTopics?

  /// - Parameter shared: learns what is opened and closed, for other replicas; nil where there is one process.
  init(shared: OpenTopics? = nil) { self.shared = shared }

  func open(_ topic: String, by user: UserID) {
    let isFirst = counts.withLock { counts in
      let key = Key(topic: topic, user: user)
      let count = counts[key, default: 0]
      counts[key] = count + 1
      // Under the lock, so that it learns of it in order.
      if count == 0 { shared?.set(topic, user, isOpen: true) }
      return count == 0
    }
    if isFirst { shared?.wakeUp() }
  }

  func close(_ topic: String, by user: UserID) {
    let isLast = counts.withLock { counts in
      let key = Key(topic: topic, user: user)
      guard let count = counts[key] else { return false }
      counts[key] = count > 1 ? count - 1 : nil
      if count == 1 { shared?.set(topic, user, isOpen: false) }
      return count == 1
    }
    if isLast { shared?.wakeUp() }
  }

  /// Those of the users who have one of the topics open, in this process.
  func openers(of topics: [String], among users: [UserID]) -> Set<UserID> {
    counts.withLock { counts in
      Set(users.filter { user in topics.contains { counts[Key(topic: $0, user: user)] != nil } })
    }
  }
}
