import Measures
import Synchronization

/// Spans that wait for the exporter: so many and no more, as telling of the work must not get in its way.
final class SpanQueue: Sendable {
  private let spansMax: Int
  private let batchMax: Int
  private let waiting = Mutex<[EndedSpan]>([])
  private let dropped: Counter
  private let sent: Counter

  init(_ pace: SpanExporter.Pace, in registry: Registry) {
    spansMax = pace.spansMax
    batchMax = pace.batchMax
    sent = registry.counter("kith_spans_sent_total", "Spans that the collector took.")
    dropped = registry.counter("kith_spans_dropped_total", "Spans that no collector got.", labels: ["reason"])
  }

  /// - Returns: whether a batch has become full.
  func add(_ span: EndedSpan) -> Bool {
    let count = waiting.withLock { waiting -> Int? in
      guard waiting.count < spansMax else { return nil }
      waiting.append(span)
      return waiting.count
    }
    if count == nil { drop(1, .full) }
    return count.map { $0 % batchMax == 0 } ?? false
  }

  /// The oldest; nil when there are none.
  func take() -> [EndedSpan]? {
    waiting.withLock { waiting in
      guard !waiting.isEmpty else { return nil }
      let batch = Array(waiting.prefix(batchMax))
      waiting.removeFirst(batch.count)
      return batch
    }
  }

  /// Before all others: they may not have been sent after all.
  func putBack(_ batch: [EndedSpan]) { waiting.withLock { $0.insert(contentsOf: batch, at: 0) } }

  /// Why nobody will see a span.
  enum Reason: String {
    /// More came than could be sent.
    case full
    /// The collector did not want it.
    case refused
    /// The collector did not take it, however often it was asked.
    case unreachable
    /// The process ended.
    case stopped
  }

  func drop(_ count: Int, _ reason: Reason) {
    guard count > 0 else { return }
    dropped.add(reason.rawValue, by: count)
  }

  func sent(_ count: Int) {
    guard count > 0 else { return }
    sent.add(by: count)
  }
}
