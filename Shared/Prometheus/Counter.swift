import Synchronization

/// Counts by label. Label values must come from a small, fixed set: never an id, a raw path, or personal data.
package final class Counter: Sendable {
  /// The count of one combination of label values.
  package final class Series: Sendable {
    private let count = Atomic(0)

    package func add(_ number: Int = 1) { count.wrappingAdd(number, ordering: .relaxed) }

    fileprivate var value: Int { count.load(ordering: .relaxed) }
  }

  package let labels: [String]
  private let all = SeriesByLabels { Series() }

  init(labels: [String]) { self.labels = labels }

  /// - Parameter values: one label value for each label.
  package func add(_ values: String..., by count: Int = 1) { all[values].add(count) }

  /// What counts for these label values, for those who add to it often. It is exposed from its first count on.
  package func series(_ values: String...) -> Series { all[values] }

  package var counts: [(values: [String], count: Int)] {
    all.sorted.map { ($0.values, $0.series.value) }.filter { $0.1 != 0 }
  }
}
