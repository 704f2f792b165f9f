import Synchronization

/// The metrics of one service, for Prometheus to scrape.
package final class MetricsRegistry: Sendable {
  private struct Metric: Sendable {
    let name: String
    let write: @Sendable (inout PrometheusText) -> Void
  }

  private let metrics = Mutex<[Metric]>([])

  package init() {}

  /// Registers a counter, whose name ends in `_total`.
  package func counter(_ name: String, _ help: String, labels: [String] = []) -> Counter {
    let counter = Counter(labels: labels)
    add(name) { text in
      text.head(name, .counter, help)
      for (values, count) in counter.all { text.line(name, counter.labels, values, Double(count)) }
    }
    return counter
  }

  /// Registers a counter without labels, whose value is read on every scrape.
  package func counter(_ name: String, _ help: String, read: @escaping @Sendable () -> Int) {
    add(name) { text in
      text.head(name, .counter, help)
      text.line(name, [], [], Double(read()))
    }
  }

  /// Registers a histogram of durations, whose name ends in `_seconds`.
  package func histogram(_ name: String, _ help: String, labels: [String] = []) -> Histogram {
    let histogram = Histogram(labels: labels)
    add(name) { text in
      text.head(name, .histogram, help)
      for (values, dataPoint) in histogram.all { text.histogram(name, histogram.labels, values, dataPoint) }
    }
    return histogram
  }

  /// Registers a gauge, whose values are read on every scrape.
  package func gauge(
    _ name: String, _ help: String, labels: [String] = [],
    read: @escaping @Sendable () -> [(values: [String], value: Double)]
  ) {
    add(name) { text in
      text.head(name, .gauge, help)
      for (values, value) in read() { text.line(name, labels, values, value) }
    }
  }

  private func add(_ name: String, _ write: @escaping @Sendable (inout PrometheusText) -> Void) {
    metrics.withLock { $0.append(Metric(name: name, write: write)) }
  }

  /// All metrics in Prometheus' text format 0.0.4.
  package func text() -> String {
    var text = PrometheusText()
    for metric in metrics.withLock({ $0 }) { metric.write(&text) }
    return text.string
  }
}

/// Counts by label. Label values must come from a small, fixed set: never an id, a raw path, or personal data.
package final class Counter: Sendable {
  package let labels: [String]
  private let counts = Mutex<[[String]: Int]>([:])

  init(labels: [String]) { self.labels = labels }

  /// - Parameter values: one label value for each label.
  package func add(_ values: String..., by count: Int = 1) {
    counts.withLock { $0[values, default: 0] &+= count }
  }

  package var all: [(values: [String], count: Int)] {
    counts.withLock { $0 }.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { ($0.key, $0.value) }
  }
}

/// Durations by label.
package final class Histogram: Sendable {
  package struct DataPoint: Sendable {
    /// How many durations are at most the bound of the same index and above the one before; the last bucket is for
    /// those above all bounds. Not cumulative.
    package var buckets = [Int](repeating: 0, count: Histogram.bounds.count + 1)
    /// The sum of all durations.
    package var seconds = 0.0

    package init() {}

    package mutating func add(seconds: Double) {
      self.seconds += seconds
      buckets[Histogram.bounds.firstIndex { seconds <= $0 } ?? Histogram.bounds.count] += 1
    }

    package mutating func add(_ other: DataPoint) {
      seconds += other.seconds
      for index in buckets.indices where index < other.buckets.count { buckets[index] += other.buckets[index] }
    }
  }

  /// The upper bounds of the buckets in seconds.
  package static let bounds: [Double] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
  ]

  package let labels: [String]
  private let dataPoints = Mutex<[[String]: DataPoint]>([:])

  init(labels: [String]) { self.labels = labels }

  /// - Parameter values: one label value for each label.
  package func observe(_ duration: Duration, _ values: String...) {
    let seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
    dataPoints.withLock { $0[values, default: DataPoint()].add(seconds: seconds) }
  }

  package var all: [(values: [String], dataPoint: DataPoint)] {
    dataPoints.withLock { $0 }.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { ($0.key, $0.value) }
  }
}
