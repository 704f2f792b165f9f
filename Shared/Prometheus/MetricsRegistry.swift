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
      for (values, count) in counter.counts { text.line(name, counter.labels, values, Double(count)) }
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
      for (values, dataPoint) in histogram.dataPoints { text.histogram(name, histogram.labels, values, dataPoint) }
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
