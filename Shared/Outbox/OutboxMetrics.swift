import Foundation
import Prometheus
import Synchronization

/// The metrics of an outbox or inbox: how many messages wait, the age of the oldest, the tries by outcome.
final class OutboxMetrics: Sendable {
  private struct Depth {
    var waiting = 0
    var oldestSeconds = 0.0
  }

  private let tries: Counter
  private let depths = Mutex<[String: Depth]>([:])

  init(_ table: String, in registry: MetricsRegistry) {
    tries = registry.counter(
      "kith_\(table)_tries_total", "Tries to carry out a message, by kind and outcome.", labels: ["kind", "outcome"])
    registry.gauge("kith_\(table)_depth", "Messages that wait.", labels: ["kind"]) { [weak self] in
      self?.samples { Double($0.waiting) } ?? []
    }
    registry.gauge(
      "kith_\(table)_oldest_seconds", "Age of the message that waits longest.", labels: ["kind"]
    ) { [weak self] in self?.samples(\.oldestSeconds) ?? [] }
  }

  func count(_ kind: String, _ outcome: DeliveryOutcome) { tries.add(kind, outcome.rawValue) }

  /// - Parameter kinds: the kinds that are reported as zero when none of their messages wait.
  func setDepths(
    _ found: [(kind: String, waiting: Int, oldest: Date)], of kinds: some Sequence<String>, at now: Date
  ) {
    var all: [String: Depth] = [:]
    for kind in kinds { all[kind] = Depth() }
    for depth in found {
      all[depth.kind] = Depth(waiting: depth.waiting, oldestSeconds: max(0, now.timeIntervalSince(depth.oldest)))
    }
    depths.withLock { [all] in $0 = all }
  }

  private func samples(_ value: (Depth) -> Double) -> [(values: [String], value: Double)] {
    depths.withLock { $0 }.sorted { $0.key < $1.key }.map { ([$0.key], value($0.value)) }
  }
}
