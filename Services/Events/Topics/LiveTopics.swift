import Synchronization
import Wire

/// Which users have which topics open in this process, on a socket or an event stream.
final class LiveTopics: Sendable {
  private let counts = Mutex<[String: [UserID: Int]]>([:])

  func open(_ topic: String, by user: UserID) {
    counts.withLock { $0[topic, default: [:]][user, default: 0] += 1 }
  }

  func close(_ topic: String, by user: UserID) {
    counts.withLock { counts in
      guard let count = counts[topic]?[user] else { return }
      counts[topic]?[user] = count > 1 ? count - 1 : nil
      if counts[topic]?.isEmpty == true { counts[topic] = nil }
    }
  }

  /// Whether the user has one of the topics open.
  func isOpen(_ topics: [String], by user: UserID) -> Bool {
    counts.withLock { counts in topics.contains { counts[$0]?[user] != nil } }
  }
}
