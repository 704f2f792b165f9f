import Foundation
import Prometheus

/// What this process counts about notifications.
struct PushMetrics: Sendable {
  private let sent: Counter
  private let suppressed: Counter
  private let latency: Histogram

  /// Why a user was not notified, or not on a device.
  enum Suppression: String, Sendable {
    case open, preference, muted, limit, held, expired
    case deviceGone = "device_gone"
  }

  init(in registry: MetricsRegistry) {
    sent = registry.counter("kith_push_sent_total", "Answers of APNs, by reason.", labels: ["outcome"])
    suppressed = registry.counter(
      "kith_push_suppressed_total", "Notifications that were not sent, by reason.", labels: ["reason"])
    latency = registry.histogram(
      "kith_push_seconds", "Time from what has happened until APNs has accepted the notification.")
  }

  func answered(_ response: APNsResponse) {
    switch response {
    case .accepted: sent.add("accepted")
    case .refused(let refusal): sent.add(APNsReasons.known.contains(refusal.reason) ? refusal.reason : "other")
    }
  }

  func suppressed(_ reason: Suppression) { suppressed.add(reason.rawValue) }

  func accepted(after seconds: TimeInterval) {
    latency.observe(.milliseconds(Int64(max(0, seconds * 1000))))
  }
}
