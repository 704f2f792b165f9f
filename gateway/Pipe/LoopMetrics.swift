import Measures
import NIOCore

/// What one event loop has counted: requests by route and status, and how long they took. Read by ``Metrics`` on this
/// loop, so nothing is locked.
final class LoopMetrics {
  struct Series: Sendable {
    var counts: [Int: Int] = [:]
    var durations = Histogram.Series()
  }

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
    series.durations.add(seconds: Double(took.nanoseconds) / 1e9)
  }
}
