import Hummingbird
import Prometheus
import Synchronization
import Wire

/// Counts requests by route template, method and status, and measures their durations.
struct RequestMetrics: Sendable {
  private struct Kind: Hashable {
    let route: String
    let method: String
    let status: Int
  }

  private struct Series {
    let count: Counter.Series
    let duration: Histogram.Series
  }

  private let requests: Counter
  private let durations: Histogram
  private let series = SharedSeries()

  private final class SharedSeries: Sendable {
    let known = Mutex<[Kind: Series]>([:])
  }

  init(in registry: MetricsRegistry) {
    requests = registry.counter(
      "kith_http_requests_total", "Requests by route, method and status.", labels: ["route", "method", "status"])
    durations = registry.histogram(
      "kith_http_request_duration_seconds", "Time to the beginning of the answer.", labels: ["route", "method"])
  }

  /// Records a request that was answered.
  ///
  /// - Parameter route: the path template; requests without a route share one label, as their paths are unlimited.
  func record(_ method: String, route: String?, status: Int, duration: Duration) {
    let route = route.flatMap { $0 == "NotFound" ? nil : $0 } ?? ""
    let method = Self.methods.contains(method) ? method : "other"
    let series = series(of: Kind(route: route, method: method, status: status))
    series.count.add()
    series.duration.observe(duration)
  }

  private func series(of kind: Kind) -> Series {
    series.known.withLock { known in
      if let series = known[kind] { return series }
      let series = Series(
        count: requests.series(kind.route, kind.method, String(kind.status)),
        duration: durations.series(kind.route, kind.method))
      known[kind] = series
      return series
    }
  }

  /// Other methods share one label, as clients can send any.
  private static let methods: Set = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
}

/// `/metrics`, for requests with a service key, and in development for loopback connections: elsewhere a local proxy
/// may forward requests of any client without saying so. Other requests get 404.
struct MetricsRoutes: Sendable {
  let registry: MetricsRegistry
  let authenticator: CallerAuthenticator
  let stage: Settings.Stage

  func add(to routes: HTTPRoutes) { routes.offEventLoop().get("/metrics", use: metrics) }

  @Sendable private func metrics(_ request: Request, _ context: Context) throws -> Response {
    let isLocal = stage == .development && context.isLoopback
    guard isLocal || context.service != nil || authenticator.hasServiceKeyAsBearer(request) else {
      throw Failure.notFound
    }
    return Response(
      status: .ok, headers: [.contentType: PrometheusText.contentType],
      body: .init(byteBuffer: .init(string: registry.text())))
  }
}
