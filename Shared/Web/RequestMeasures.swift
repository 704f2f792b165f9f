import Hummingbird
import Measures
import Wire

/// Requests by route template, method and status, and how long they took.
struct RequestMeasures: Sendable {
  private let requests: Counter
  private let durations: Histogram

  init(in registry: Registry) {
    requests = registry.counter(
      "kith_http_requests_total", "Requests by route, method and status.", labels: ["route", "method", "status"])
    durations = registry.histogram(
      "kith_http_request_duration_seconds", "Time to the beginning of the answer.", labels: ["route", "method"])
  }

  /// - Parameter route: the template; what no route has answered is counted together, as paths are endless.
  func ended(_ method: String, route: String?, status: Int, took: Duration) {
    let route = route.flatMap { $0 == "NotFound" ? nil : $0 } ?? ""
    let method = Self.methods.contains(method) ? method : "other"
    requests.add(route, method, String(status))
    durations.observe(took, route, method)
  }

  /// Anything can stand where a method should.
  private static let methods: Set = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
}

/// `/metrics`, for those who have a service key, and in development for this machine: elsewhere a proxy on it may speak
/// for anybody without saying so. To others it is not there.
struct MetricsRoutes: Sendable {
  let registry: Registry
  let callers: Callers
  let stage: Settings.Stage

  func add(to routes: Router<Context>) { routes.get("/metrics", use: metrics) }

  @Sendable private func metrics(_ request: Request, _ context: Context) throws -> Response {
    let isHere = stage == .development && context.isFromThisMachine
    guard isHere || context.service != nil || callers.isBearingServiceKey(request) else { throw Failure.notFound }
    return Response(
      status: .ok, headers: [.contentType: PrometheusText.contentType],
      body: .init(byteBuffer: .init(string: registry.text())))
  }
}
