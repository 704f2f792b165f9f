import Foundation
import Measures
import Synchronization

/// How much waits in an outbox or inbox, since when, and what became of it.
final class OutboxMeasures: Sendable {
  private struct Depth {
    var waiting = 0
    var seconds = 0.0
  }

  private let tries: Counter
  private let depths = Mutex<[String: Depth]>([:])

  init(_ table: String, in registry: Registry) {
    tries = registry.counter(
      "kith_\(table)_tries_total", "Tries to carry out a message, by kind and outcome.", labels: ["kind", "outcome"])
    registry.gauge("kith_\(table)_depth", "Messages that wait.", labels: ["kind"]) { [weak self] in
      self?.read { Double($0.waiting) } ?? []
    }
    registry.gauge(
      "kith_\(table)_oldest_seconds", "Age of the message that waits longest.", labels: ["kind"]
    ) { [weak self] in self?.read(\.seconds) ?? [] }
  }

  func count(_ kind: String, _ outcome: Outcome) { tries.add(kind, outcome.rawValue) }

  /// - Parameter kinds: shown as empty when nothing of them waits.
  func show(
    _ found: [(kind: String, waiting: Int, oldest: Date)], of kinds: some Sequence<String>, at now: Date
  ) {
    var all: [String: Depth] = [:]
    for kind in kinds { all[kind] = Depth() }
    for depth in found {
      all[depth.kind] = Depth(waiting: depth.waiting, seconds: max(0, now.timeIntervalSince(depth.oldest)))
    }
    depths.withLock { [all] in $0 = all }
  }

  private func read(_ value: (Depth) -> Double) -> [(values: [String], value: Double)] {
    depths.withLock { $0 }.sorted { $0.key < $1.key }.map { ([$0.key], value($0.value)) }
  }
}
