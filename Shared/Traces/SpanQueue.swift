import Prometheus
import Synchronization

/// A bounded queue of spans for the exporter.
final class SpanQueue: Sendable {
  private let queueSpansMax: Int
  private let batchSpansMax: Int
  private let waiting = Mutex<[EndedSpan]>([])
  private let dropped: Counter
  private let sent: Counter

  init(_ options: SpanExporter.BatchOptions, in registry: MetricsRegistry) {
    queueSpansMax = options.queueSpansMax
    batchSpansMax = options.batchSpansMax
    sent = registry.counter("kith_spans_sent_total", "Spans that the collector took.")
    dropped = registry.counter("kith_spans_dropped_total", "Spans that no collector got.", labels: ["reason"])
  }

  /// Adds a span, or drops it when the queue is full.
  ///
  /// - Returns: whether a batch has become full.
  func add(_ span: EndedSpan) -> Bool {
    let count = waiting.withLock { waiting -> Int? in
      guard waiting.count < queueSpansMax else { return nil }
      waiting.append(span)
      return waiting.count
    }
    if count == nil { drop(1, .full) }
    return count.map { $0 % batchSpansMax == 0 } ?? false
  }

  /// Removes and returns the oldest batch; nil when the queue is empty.
  func take() -> [EndedSpan]? {
    waiting.withLock { waiting in
      guard !waiting.isEmpty else { return nil }
      let batch = Array(waiting.prefix(batchSpansMax))
      waiting.removeFirst(batch.count)
      return batch
    }
  }

  /// Puts a batch that may not have been sent back at the front.
  func putBack(_ batch: [EndedSpan]) { waiting.withLock { $0.insert(contentsOf: batch, at: 0) } }

  /// Why a span was dropped.
  enum DropReason: String {
    /// The queue was full.
    case full
    /// The collector refused or rejected it.
    case refused
    /// All attempts failed.
    case unreachable
    /// The process stopped.
    case stopped
  }

  func drop(_ count: Int, _ reason: DropReason) {
    guard count > 0 else { return }
    dropped.add(reason.rawValue, by: count)
  }

  func sent(_ count: Int) {
    guard count > 0 else { return }
    sent.add(by: count)
  }
}
