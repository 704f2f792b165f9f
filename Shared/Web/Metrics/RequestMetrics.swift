import Hummingbird
import Prometheus
import Wire

/// Counts requests by route template, method and status, and measures their durations.
struct RequestMetrics: Sendable {
  private let requests: Counter
  private let durations: Histogram

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
    requests.add(route, method, String(status))
    durations.observe(duration, route, method)
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

  func add(to routes: Router<Context>) { routes.offEventLoop().get("/metrics", use: metrics) }

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
