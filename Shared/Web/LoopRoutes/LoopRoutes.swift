import Logging
import NIOCore
import StrictHTTP
import Wire

/// The loop routes of a service, with what ``BoundaryMiddleware`` does for all others: error responses, request id,
/// metrics, access log.
final class LoopRoutes: Sendable {
  private let routes: [LoopRoute]
  private let authenticator: CallerAuthenticator
  private let lifecycle: Lifecycle
  private let metrics: RequestMetrics
  private let logger: Logger
  private let accessLog: AccessLog

  /// nil where there are none, and where requests are traced, for which they need a task.
  init?(_ routes: [LoopRoute], within boundary: BoundaryMiddleware) {
    guard !routes.isEmpty, boundary.tracer == nil else { return nil }
    self.routes = routes
    authenticator = boundary.authenticator
    lifecycle = boundary.lifecycle
    metrics = boundary.metrics
    logger = boundary.logger
    accessLog = boundary.accessLog
  }

  /// The route of a request, and where the variable is in its path.
  ///
  /// - Parameter bytes: begins with the head.
  func route(of head: RequestHead, _ bytes: ByteBuffer) -> (route: LoopRoute, variable: Range<Int>)? {
    guard head.method == .GET else { return nil }
    let path = bytes.readableBytesUInt8Span.extracting(head.path.start..<head.path.end)
    for route in routes {
      if let variable = route.variable(in: path) { return (route, variable) }
    }
    return nil
  }

  /// The user whom the gateway names; nil for all other requests.
  func user(assertedIn request: LoopRequest) -> UserID? { authenticator.user(assertedIn: request) }

  /// Responds to a request.
  ///
  /// - Parameter write: called once on the event loop, now or later, with the response; nil when the request is for the
  ///   route of the same path.
  func respond(to request: LoopRequest, by route: LoopRoute, _ write: @escaping (LoopResponse?) -> Void) {
    let started = ContinuousClock.now
    let result: LoopResult?
    do { result = try route.respond(request) } catch {
      return write(finished(failed(request, error), route, request, started))
    }
    switch result {
    case nil: write(nil)
    case .response(let response): write(finished(response, route, request, started))
    case .later(let future):
      future.assumeIsolated().whenComplete { [self] result in
        switch result {
        case .success(nil): write(nil)
        case .success(let response?): write(finished(response, route, request, started))
        case .failure(let error): write(finished(failed(request, error), route, request, started))
        }
      }
    }
  }

  private func failed(_ request: LoopRequest, _ error: any Error) -> LoopResponse {
    let trace = Trace(requestID: request.requestID, traceparent: request.field(.traceparent))
    let failure = Trace.$current.withValue(trace) { Failure(describing: error, logger: logger) }
    let content = FailureResponse(failure, as: APIDialect(path: request.path), requestID: request.requestID)
    var response = LoopResponse(status: content.status, body: ByteBuffer(data: content.body))
    for (name, value) in content.headers { response.add(name, value) }
    return response
  }

  private func finished(
    _ response: LoopResponse, _ route: LoopRoute, _ request: LoopRequest, _ started: ContinuousClock.Instant
  ) -> LoopResponse {
    var response = response
    response.add(Header.requestID, request.requestID)
    response.closesConnection = lifecycle.isDraining
    let duration = ContinuousClock.now - started
    metrics.record("GET", route: route.template, status: response.status, duration: duration)
    accessLog.log(
      isRoutine: false,
      .init(
        "GET", route: route.template, status: response.status, requestID: request.requestID, traceID: nil,
        microseconds: duration.microseconds))
    return response
  }
}
