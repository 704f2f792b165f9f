import Synchronization

/// Durations by label. Label values must come from a small, fixed set, as those of a ``Counter``.
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

  /// The durations of one combination of label values.
  package final class Series: Sendable {
    private let dataPoint = Mutex<DataPoint?>(nil)

    package func observe(_ duration: Duration) {
      let seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
      dataPoint.withLock { point in
        if point == nil { point = DataPoint() }
        point?.add(seconds: seconds)
      }
    }

    fileprivate var value: DataPoint? { dataPoint.withLock { $0 } }
  }

  /// The upper bounds of the buckets in seconds.
  package static let bounds: [Double] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
  ]

  package let labels: [String]
  private let all = SeriesByLabels { Series() }

  init(labels: [String]) { self.labels = labels }

  /// - Parameter values: one label value for each label.
  package func observe(_ duration: Duration, _ values: String...) { all[values].observe(duration) }

  /// What observes for these label values, for those who do so often. It is exposed from its first duration on.
  package func series(_ values: String...) -> Series { all[values] }

  package var dataPoints: [(values: [String], dataPoint: DataPoint)] {
    all.sorted.compactMap { values, series in series.value.map { (values, $0) } }
  }
}
