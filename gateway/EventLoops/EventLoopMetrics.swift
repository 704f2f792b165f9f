import NIOCore
import Prometheus

/// The request metrics of one event loop: requests by route and status, and their durations. ``snapshot`` is read on
/// the same event loop, so nothing is locked.
final class EventLoopMetrics {
  struct Series: Sendable {
    var counts: [Int: Int] = [:]
    var durations = Histogram.DataPoint()
  }

  private var series: [ObjectIdentifier: (route: Route, series: Series)] = [:]
  /// Requests without a route: unknown paths, refused requests, local responses.
  private var unrouted = Series()
  var tunnels = TunnelMetrics()

  var snapshot: [(route: Route?, series: Series)] {
    [(nil, unrouted)] + series.values.map { ($0.route, $0.series) }
  }

  func ended(_ route: Route?, status: Int, duration: TimeAmount) {
    guard let route else { return Self.add(&unrouted, status, duration) }
    Self.add(&series[ObjectIdentifier(route), default: (route, Series())].series, status, duration)
  }

  private static func add(_ series: inout Series, _ status: Int, _ duration: TimeAmount) {
    series.counts[status, default: 0] += 1
    series.durations.add(seconds: Double(duration.nanoseconds) / 1e9)
  }
}
