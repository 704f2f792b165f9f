import Logging
import Synchronization

/// Logs outages of Redis for all event loops together, once when the first loses Redis, once when the last has it
/// again, and knows whether there is one.
package final class RedisOutageLog: Sendable {
  /// How many event loops are without Redis.
  private let disconnected = Mutex(0)

  package init() {}

  /// Whether an event loop is without Redis. False where none is configured.
  package var isAway: Bool { disconnected.withLock { $0 > 0 } }

  func began(_ url: RedisURL, _ reason: String, _ logger: Logger) {
    guard change(by: 1) == 1 else { return }
    logger.warning(
      "Redis is away: limits are counted by this gateway alone", metadata: ["redis": "\(url)", "reason": "\(reason)"])
  }

  func ended(_ url: RedisURL, _ logger: Logger) {
    guard change(by: -1) == 0 else { return }
    logger.notice("Redis is back: limits are shared again", metadata: ["redis": "\(url)"])
  }

  private func change(by number: Int) -> Int {
    disconnected.withLock { disconnected in
      disconnected += number
      return disconnected
    }
  }
}
