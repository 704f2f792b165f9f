import Logging
import Synchronization

/// Says how the collector is doing whenever that changes, and not for every batch.
final class CollectorLog: Sendable {
  private enum State { case well, partly, away }

  private let state = Mutex(State.well)
  private let logger: Logger

  init(_ logger: Logger) { self.logger = logger }

  func isAway(_ why: String) {
    guard changed(to: .away) else { return }
    logger.warning("the collector takes no spans", metadata: ["because": "\(why)"])
  }

  /// It took a batch, but for so many of its spans.
  func rejected(_ count: Int, because why: String) {
    guard changed(to: .partly) else { return }
    logger.warning(
      "the collector rejects spans", metadata: ["count": .stringConvertible(count), "because": "\(why)"])
  }

  func isWell() {
    guard changed(to: .well) else { return }
    logger.notice("the collector takes spans again")
  }

  private func changed(to now: State) -> Bool {
    state.withLock { state in
      defer { state = now }
      return state != now
    }
  }
}
