import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import Traces
import Wire

/// The outermost layer of every service: authentication, deadline, error responses, request id, metrics, access log.
struct BoundaryMiddleware: Sendable {
  let router: RouteResponder
  let routes: [RegisteredRoute]
  let authenticator: CallerAuthenticator
  let lifecycle: Lifecycle
  let deadlines: RequestDeadlines
  let metrics: RequestMetrics
  /// nil when no collector is configured.
  let tracer: Tracer?
  /// Requests whose responses contain tokens, which no cache may store.
  let holdsTokens: @Sendable (Request) -> Bool
  let logger: Logger
  let accessLog: AccessLog

  /// - Parameter channel: the connection of the request.
  func respond(to request: Request, on channel: any Channel) async -> Response {
    let started = ContinuousClock.now
    let trace = Trace(
      requestID: request.header(.requestID), traceparent: request.header(.traceparent),
      tracestate: request.header(.tracestate))
    let service = authenticator.service(of: request)
    let context = Context(
      source: ContextSource(
        logger: logger, channel: channel, trace: trace, isForwarded: service != nil || request.isForwarded))
    let request = request.replacingForwardedFor(context, from: service)
    let span = tracer?.begin(continuing: trace.traceparent, isTrusted: service != nil)
    // Everything that is logged in here has the ids of the trace.
    return await Trace.$current.withValue(trace) {
      await ActiveSpan.within(span) {
        var response = await respondWithinDeadline(to: request, context, keyOf: service)
        response.headers[.requestID] = trace.requestID
        if lifecycle.isDraining { response.headers[.connection] = "close" }
        let duration = ContinuousClock.now - started
        metrics.record(
          request.method.rawValue, route: context.endpointPath, status: response.status.code, duration: duration)
        if let span, !isRoutine(context) {
          span.endServerSpan(request.method.rawValue, route: route(context), .response(response.status.code))
        }
        log(request, context, response, duration, span)
        return response
      }
    }
  }

  /// Responds to bytes that are no request.
  @Sendable func refuse(_ failure: Failure) -> Response {
    let trace = Trace(requestID: nil, traceparent: nil)
    let request = Request(
      head: HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/"), body: RequestBody(buffer: ByteBuffer()))
    var response = failure.response(to: request, requestID: trace.requestID)
    response.headers[.requestID] = trace.requestID
    metrics.record("-", route: nil, status: response.status.code, duration: .zero)
    accessLog.log(
      isRoutine: false,
      .init("-", route: nil, status: response.status.code, requestID: trace.requestID, traceID: nil, microseconds: 0))
    return response
  }

  private func respondWithinDeadline(
    to request: Request, _ context: Context, keyOf service: CallingService?
  ) async -> Response {
    do {
      return try await deadlines.withDeadline(request.callerTimeout) {
        // Decoding a large body may take longer than the event loop can be held.
        try await offEventLoop(if: request.mayHaveLargeBody) { try await routed(request, context, service) }
      }
    } catch {
      return Failure(describing: error, logger: context.logger)
        .response(to: request, requestID: context.trace.requestID)
    }
  }

  private func routed(_ request: Request, _ context: Context, _ service: CallingService?) async throws -> Response {
    let context = try await authenticator.authenticated(request, context, keyOf: service)
    var response = try await router.respond(to: request, context: context)
    // The router's own response to an unknown path or method has a body of another format.
    if context.endpointPath == "NotFound" { throw routingFailure(request) }
    if !response.headers.contains(.cacheControl) { response.headers[.cacheControl] = cacheControl(request, context) }
    return response
  }

  /// `Cache-Control` for a response whose route does not set it (RFC 9111 §5.2.2).
  private func cacheControl(_ request: Request, _ context: Context) -> String? {
    if holdsTokens(request) { return "no-store" }
    guard case .user = context.caller else { return nil }
    return "private"
  }

  private func routingFailure(_ request: Request) -> Failure {
    let allow = routes.filter { $0.path.matches(request.uri.path) }.map(\.method)
    return allow.isEmpty ? .notFound : .methodNotAllowed(allow: allow.sorted())
  }

  private func log(
    _ request: Request, _ context: Context, _ response: Response, _ duration: Duration, _ span: ActiveSpan?
  ) {
    accessLog.log(
      isRoutine: isRoutine(context),
      .init(
        request.method.rawValue, route: context.endpointPath, status: response.status.code,
        requestID: context.trace.requestID, traceID: span?.context.traceID, microseconds: duration.microseconds))
  }

  /// Routes that other programs poll every second, which would drown the access log and the traces.
  private func isRoutine(_ context: Context) -> Bool {
    guard let route = context.endpointPath else { return false }
    return route.hasPrefix("/health")
      || ["/metrics", "/internal/sessions/ended", "/.well-known/jwks.json"].contains(route)
  }

  /// The route's path template; nil when no route matched.
  private func route(_ context: Context) -> String? { context.endpointPath.flatMap { $0 == "NotFound" ? nil : $0 } }
}

extension Request {
  /// The value of a header field, or the values of several with this name, joined by commas. The subscript of
  /// `HTTPFields` returns the same, but instantiates several generic types on each call.
  package func header(_ name: HTTPField.Name) -> String? {
    var found: String?
    for index in headers.indices where headers[index].name == name {
      let value = headers[index].value
      found = found.map { $0 + ", " + value } ?? value
    }
    return found
  }

  /// Whether its body has more than 16 KiB, or a length that is not known before it has been received.
  fileprivate var mayHaveLargeBody: Bool {
    guard let length = header(.contentLength) else { return method != .get && method != .head && method != .delete }
    return Int(length).map { $0 > 16 * 1024 } ?? true
  }

  /// How long the caller waits (`X-Timeout-Ms`); nil when it does not say so.
  fileprivate var callerTimeout: Duration? {
    guard let text = header(.timeout), let milliseconds = Int64(text), (1...3_600_000).contains(milliseconds) else {
      return nil
    }
    return .milliseconds(milliseconds)
  }
}

extension Duration {
  /// Rounded to whole microseconds.
  var microseconds: Int {
    Int(components.seconds) * 1_000_000 + Int((components.attoseconds + 500_000_000_000) / 1_000_000_000_000)
  }
}

extension RouterPath {
  /// Whether a request's path matches this template, whatever the values of its variables.
  func matches(_ path: String) -> Bool {
    let parts = path.split(separator: "/")
    return parts.count == components.count && zip(parts, components).allSatisfy { part, component in component == part }
  }
}
