import Synchronization

/// What one process has counted and measured, for Prometheus to collect.
package final class Registry: Sendable {
  private struct Entry: Sendable {
    let name: String
    let collect: @Sendable (inout PrometheusText) -> Void
  }

  private let entries = Mutex<[Entry]>([])

  package init() {}

  /// Something that only grows. Its name ends in `_total`.
  package func counter(_ name: String, _ help: String, labels: [String] = []) -> Counter {
    let counter = Counter(labels: labels)
    add(name) { text in
      text.head(name, .counter, help)
      for (values, count) in counter.all { text.line(name, counter.labels, values, Double(count)) }
    }
    return counter
  }

  /// Durations. Its name ends in `_seconds`.
  package func histogram(_ name: String, _ help: String, labels: [String] = []) -> Histogram {
    let histogram = Histogram(labels: labels)
    add(name) { text in
      text.head(name, .histogram, help)
      for (values, series) in histogram.all { text.histogram(name, histogram.labels, values, series) }
    }
    return histogram
  }

  /// Something that goes up and down, asked for when it is collected.
  package func gauge(
    _ name: String, _ help: String, labels: [String] = [],
    read: @escaping @Sendable () -> [(values: [String], value: Double)]
  ) {
    add(name) { text in
      text.head(name, .gauge, help)
      for (values, value) in read() { text.line(name, labels, values, value) }
    }
  }

  private func add(_ name: String, _ collect: @escaping @Sendable (inout PrometheusText) -> Void) {
    entries.withLock { $0.append(Entry(name: name, collect: collect)) }
  }

  /// Everything, in Prometheus' text format 0.0.4.
  package func text() -> String {
    var text = PrometheusText()
    for entry in entries.withLock({ $0 }) { entry.collect(&text) }
    return text.string
  }
}

/// Counts by label. Label values must come from a small, fixed set: never an id, a path as it came, or a person's data.
package final class Counter: Sendable {
  package let labels: [String]
  private let counts = Mutex<[[String]: Int]>([:])

  init(labels: [String]) { self.labels = labels }

  /// - Parameter values: one for each label.
  package func add(_ values: String..., by count: Int = 1) {
    counts.withLock { $0[values, default: 0] &+= count }
  }

  package var all: [(values: [String], count: Int)] {
    counts.withLock { $0 }.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { ($0.key, $0.value) }
  }
}

/// How long things took, by label.
package final class Histogram: Sendable {
  package struct Series: Sendable {
    /// How many took at most the bound of the same index, and no less than the one before; the last are all others.
    package var buckets = [Int](repeating: 0, count: Histogram.bounds.count + 1)
    package var seconds = 0.0

    package init() {}

    package mutating func add(seconds: Double) {
      self.seconds += seconds
      buckets[Histogram.bounds.firstIndex { seconds <= $0 } ?? Histogram.bounds.count] += 1
    }

    package mutating func add(_ other: Series) {
      seconds += other.seconds
      for index in buckets.indices where index < other.buckets.count { buckets[index] += other.buckets[index] }
    }
  }

  /// In seconds: half a millisecond is a quick answer, ten seconds is a lost one.
  package static let bounds: [Double] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
  ]

  package let labels: [String]
  private let series = Mutex<[[String]: Series]>([:])

  init(labels: [String]) { self.labels = labels }

  /// - Parameter values: one for each label.
  package func observe(_ took: Duration, _ values: String...) {
    let seconds = Double(took.components.seconds) + Double(took.components.attoseconds) / 1e18
    series.withLock { $0[values, default: Series()].add(seconds: seconds) }
  }

  package var all: [(values: [String], series: Series)] {
    series.withLock { $0 }.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { ($0.key, $0.value) }
  }
}
