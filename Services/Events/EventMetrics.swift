import Foundation
import Prometheus
import Synchronization
import Web
import Wire

/// What this process counts about the log, its readers and the messages that it has refused.
struct EventMetrics: Sendable {
  private let appendedEvents: Counter
  private let refusals: Counter
  private let delivery: Histogram
  let open: OpenCounts

  /// Why something was refused, as the label of a metric.
  enum Refusal: String, Sendable {
    case malformed, token, rights, channels, sockets, address, messages, size, name, unavailable, draining, presence
    case slowReader = "slow_reader"
    /// A client that answers no pings.
    case silent
    case gap
    /// A message on a channel that is not joined.
    case unmatched
    /// A message of a kind that there is not.
    case event
    case filter
    /// Broadcasts that have not reached other replicas.
    case lost
  }

  init(in dependencies: Dependencies) {
    let registry = dependencies.registry
    appendedEvents = registry.counter(
      "kith_events_appended_total", "Events that were new, by the service that delivered them.", labels: ["service"])
    refusals = registry.counter(
      "kith_events_refusals_total", "Joins, messages and connections that were refused or ended.", labels: ["reason"])
    delivery = registry.histogram(
      "kith_events_delivery_seconds", "Time from an event until it was passed on to its readers.")
    let open = OpenCounts()
    self.open = open
    registry.gauge("kith_events_open", "Open sockets, their channels, and event streams.", labels: ["kind"]) {
      open.all.map { ([$0.rawValue], Double($1)) }
    }
  }

  func appended(_ count: Int, from service: String) {
    if count > 0 { appendedEvents.add(service, by: count) }
  }

  func refused(_ reason: Refusal, by count: Int = 1) { refusals.add(reason.rawValue, by: count) }

  /// Counts the failure with which a part of a request is refused.
  func counting<Value>(_ work: () async throws -> Value) async throws -> Value {
    do { return try await work() } catch let failure as Failure {
      refused(failure.refusal)
      throw failure
    }
  }

  func delivered(_ event: LoggedEvent, at now: Date) {
    delivery.observe(.milliseconds(Int64(max(0, now.timeIntervalSince(event.at) * 1000))))
  }
}

/// How many sockets, channels and streams are open.
final class OpenCounts: Sendable {
  enum Kind: String, Sendable, CaseIterable { case sockets, channels, streams }

  private let counts = Mutex<[Kind: Int]>([:])

  var all: [(Kind, Int)] { counts.withLock { counts in Kind.allCases.map { ($0, counts[$0] ?? 0) } } }

  var hasSockets: Bool { counts.withLock { $0[.sockets, default: 0] > 0 } }

  func add(_ count: Int, _ kind: Kind) { counts.withLock { $0[kind, default: 0] += count } }
}

extension Failure {
  fileprivate var refusal: EventMetrics.Refusal {
    switch kind {
    case .unauthorized: .token
    case .forbidden: .rights
    case .tooLarge: .size
    case .limited: .messages
    case .unavailable: .unavailable
    default: .malformed
    }
  }
}
