import Prometheus
import Synchronization

/// The metrics of the billing inbox: received events by result, tries by outcome, and how many wait or are parked.
final class BillingInboxMetrics: Sendable {
  /// What happened to an event when it was received.
  enum Received: String { case stored, repeated, rejected }

  private let received: Counter
  private let processed: Counter
  private let depths = Mutex<[[String]: Double]>([:])

  init(in registry: MetricsRegistry) {
    received = registry.counter(
      "kith_billing_events_received_total", "Billing events that were received, by provider and result.",
      labels: ["provider", "result"])
    processed = registry.counter(
      "kith_billing_event_tries_total", "Tries to apply a billing event, by provider and outcome.",
      labels: ["provider", "outcome"])
    registry.gauge(
      "kith_billing_inbox_depth", "Billing events that wait or are parked.", labels: ["provider", "status"]
    ) { [weak self] in
      self?.depths.withLock { $0 }.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { ($0.key, $0.value) } ?? []
    }
  }

  func countReceived(_ provider: PurchaseProvider, _ result: Received) {
    received.add(provider.rawValue, result.rawValue)
  }

  func countProcessed(_ provider: PurchaseProvider, _ outcome: String) { processed.add(provider.rawValue, outcome) }

  func setDepths(_ found: [(provider: String, status: String, count: Int)]) {
    var all: [[String]: Double] = [:]
    for provider in PurchaseProvider.allCases {
      for status in ["waiting", "parked"] { all[[provider.rawValue, status]] = 0 }
    }
    for depth in found { all[[depth.provider, depth.status]] = Double(depth.count) }
    depths.withLock { [all] in $0 = all }
  }
}
