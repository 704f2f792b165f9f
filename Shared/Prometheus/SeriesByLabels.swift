import Synchronization

/// The series of a metric by their label values. Each is made when it is first asked for.
final class SeriesByLabels<Series: Sendable>: Sendable {
  private let known = Mutex<[[String]: Series]>([:])
  private let make: @Sendable () -> Series

  init(_ make: @escaping @Sendable () -> Series) { self.make = make }

  subscript(values: [String]) -> Series {
    known.withLock { known in
      if let series = known[values] { return series }
      let series = make()
      known[values] = series
      return series
    }
  }

  /// In the order of their label values.
  var sorted: [(values: [String], series: Series)] {
    known.withLock { $0 }.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { ($0.key, $0.value) }
  }
}
