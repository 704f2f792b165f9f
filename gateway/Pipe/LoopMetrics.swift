import NIOCore

/// What one event loop has counted: requests by route and status, and how long they took. Read by ``Metrics`` on this
/// loop, so nothing is locked.
final class LoopMetrics {
  struct Series: Sendable {
    /// By status.
    var counts: [Int: Int] = [:]
    /// How many took at most the bound of the same index; the last holds all.
    var buckets = [Int](repeating: 0, count: LoopMetrics.boundsSeconds.count + 1)
    var nanoseconds: Int64 = 0
  }

  static let boundsSeconds: [Double] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
  ]
  private static let bounds = boundsSeconds.map { Int64($0 * 1e9) }
  private var series: [ObjectIdentifier: (route: Route, series: Series)] = [:]
  /// What no route answered: unknown paths, refusals, the gateway's own answers.
  private var others = Series()

  var snapshot: [(route: Route?, series: Series)] {
    [(nil, others)] + series.values.map { ($0.route, $0.series) }
  }

  func ended(_ route: Route?, status: Int, took: TimeAmount) {
    guard let route else { return Self.add(&others, status, took) }
    Self.add(&series[ObjectIdentifier(route), default: (route, Series())].series, status, took)
  }

  private static func add(_ series: inout Series, _ status: Int, _ took: TimeAmount) {
    series.counts[status, default: 0] += 1
    series.nanoseconds &+= took.nanoseconds
    let index = bounds.firstIndex { took.nanoseconds <= $0 } ?? bounds.count
    series.buckets[index] += 1
  }
}
