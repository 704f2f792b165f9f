import Foundation
import Prometheus
import Synchronization

/// The metrics of a service's event feed.
final class EventFeedMetrics: Sendable {
  let delivered: Counter
  let withdrawn: Counter
  let failures: Counter
  private let oldest = Mutex<Date?>(nil)

  init(in registry: MetricsRegistry, now: @escaping @Sendable () -> Date) {
    delivered = registry.counter("kith_event_feed_delivered_total", "Events that the events service has stored.")
    withdrawn = registry.counter(
      "kith_event_feed_withdrawn_total", "Events that were replaced by a reset of their topics, by reason.",
      labels: ["reason"])
    failures = registry.counter("kith_event_feed_failures_total", "Deliveries that failed.")
    registry.gauge("kith_event_feed_oldest_seconds", "Age of the oldest event that is not delivered.") { [weak self] in
      guard let self else { return [] }
      return [([], oldest.withLock { $0 }.map { max(0, now().timeIntervalSince($0)) } ?? 0)]
    }
  }

  /// - Parameter date: when the oldest event was recorded; nil when all are delivered.
  func setOldest(_ date: Date?) { oldest.withLock { $0 = date } }
}
