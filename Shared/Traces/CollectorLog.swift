import Logging
import Synchronization

/// Logs when the state of the collector changes, instead of once per batch.
final class CollectorLog: Sendable {
  private enum State { case accepting, rejectingSome, unavailable }

  private let state = Mutex(State.accepting)
  private let logger: Logger

  init(_ logger: Logger) { self.logger = logger }

  /// The collector is unreachable, or refused a batch.
  func unavailable(_ reason: String) {
    guard change(to: .unavailable) else { return }
    logger.warning("the collector takes no spans", metadata: ["because": "\(reason)"])
  }

  /// The collector accepted a batch, except `count` of its spans.
  func rejected(_ count: Int, reason: String) {
    guard change(to: .rejectingSome) else { return }
    logger.warning(
      "the collector rejects spans", metadata: ["count": .stringConvertible(count), "because": "\(reason)"])
  }

  /// The collector accepted a whole batch.
  func accepted() {
    guard change(to: .accepting) else { return }
    logger.notice("the collector takes spans again")
  }

  /// Whether the state was another one before.
  private func change(to new: State) -> Bool {
    state.withLock { state in
      defer { state = new }
      return state != new
    }
  }
}
