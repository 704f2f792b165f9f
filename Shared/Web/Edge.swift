import Foundation
import Hummingbird
import Logging
import Traces
import Wire

/// The outermost layer of every service: caller, deadline, failures as bodies, request id, access log.
struct Edge: HTTPResponder {
  let router: RouterResponder<Context>
  let routes: [RegisteredRoute]
  let callers: Callers
  let lifecycle: Lifecycle
  let deadlines: Deadlines
  let measures: RequestMeasures
  /// nil: nobody wants to know what a request went through.
  let tracer: Tracer?
  /// Requests that are answered on the event loop of their connection: their handlers neither block nor compute for long.
  let isQuick: @Sendable (Request) -> Bool
  /// Requests whose answers hold tokens, which nothing on the way may keep.
  let holdsTokens: @Sendable (Request) -> Bool
  let logger: Logger

  func respond(to request: Request, context: Context) async throws -> Response {
    var context = context
    let trace = Trace(
      requestID: request.headers[.requestID], traceparent: request.headers[.traceparent],
      tracestate: request.headers[.tracestate])
    context.trace = trace
    context.logger = logger
    context.logger[metadataKey: "request_id"] = "\(trace.requestID)"
    context.isForwarded = request.isForwarded
    let started = ContinuousClock.now
    let service = callers.service(shownBy: request)
    let request = request.located(at: context.address, by: service)
    let span = tracer?.begin(continuing: trace.traceparent, isTrusted: service != nil)
    if let span { context.logger[metadataKey: "trace_id"] = "\(span.context.traceID)" }
    var response = await Trace.$current.withValue(trace) {
      await ActiveSpan.within(span) { await answer(request, context, showingKeyOf: service) }
    }
    response.headers[.requestID] = trace.requestID
    if lifecycle.isDraining { response.headers[.connection] = "close" }
    let took = ContinuousClock.now - started
    measures.ended(request.method.rawValue, route: context.endpointPath, status: response.status.code, took: took)
    if let span, !isRoutine(context) {
      span.answered(request.method.rawValue, route: route(context), .answered(response.status.code))
    }
    log(request, context, response, took: took)
    return response
  }

  private func answer(
    _ request: Request, _ context: Context, showingKeyOf service: CallingService?
  ) async -> Response {
    do {
      return try await deadlines.within(request.callerWaits) {
        if isQuick(request) { return try await routed(request, context, service) }
        return try await withTaskExecutorPreference(globalConcurrentExecutor) {
          try await routed(request, context, service)
        }
      }
    } catch {
      return Failure(describing: error, logger: context.logger)
        .response(to: request, requestID: context.trace.requestID)
    }
  }

  private func routed(_ request: Request, _ context: Context, _ service: CallingService?) async throws -> Response {
    let context = try await callers.identified(request, context, showingKeyOf: service)
    var response = try await router.respond(to: request, context: context)
    // The router answers an unknown path or method by itself, with a body that is not ours.
    if context.endpointPath == "NotFound" { throw missing(request) }
    if response.headers[.cacheControl] == nil { response.headers[.cacheControl] = caching(request, context) }
    return response
  }

  /// Who may keep an answer whose route does not say it itself (RFC 9111 §5.2.2).
  private func caching(_ request: Request, _ context: Context) -> String? {
    if holdsTokens(request) { return "no-store" }
    guard case .user = context.caller else { return nil }
    return "private"
  }

  private func missing(_ request: Request) -> Failure {
    let allow = routes.filter { $0.path.matches(request.uri.path) }.map(\.method)
    return allow.isEmpty ? .notFound : .methodNotAllowed(allow: allow.sorted())
  }

  private func log(_ request: Request, _ context: Context, _ response: Response, took: Duration) {
    let milliseconds = Double(took.components.seconds) * 1000 + Double(took.components.attoseconds) / 1e15
    context.logger.log(
      level: isRoutine(context) ? .debug : .info, "request",
      metadata: [
        "method": "\(request.method.rawValue)", "route": "\(context.endpointPath ?? "-")",
        "status": .stringConvertible(response.status.code),
        "duration_ms": .stringConvertible((milliseconds * 1000).rounded() / 1000),
      ])
  }

  /// What machines ask for every second would bury the rest.
  private func isRoutine(_ context: Context) -> Bool {
    guard let route = context.endpointPath else { return false }
    return route.hasPrefix("/health")
      || ["/metrics", "/internal/sessions/ended", "/.well-known/jwks.json"].contains(route)
  }

  /// The template; nil when no route has answered.
  private func route(_ context: Context) -> String? { context.endpointPath.flatMap { $0 == "NotFound" ? nil : $0 } }
}

extension Request {
  /// How long the caller waits, when it says so.
  fileprivate var callerWaits: Duration? {
    guard let text = headers[.timeout], let milliseconds = Int64(text), (1...3_600_000).contains(milliseconds) else {
      return nil
    }
    return .milliseconds(milliseconds)
  }
}

/// A method and a path that the router knows.
struct RegisteredRoute: Sendable {
  let method: String
  let path: RouterPath
}

extension RouterPath {
  /// Whether a request's path is one of this route's, whatever stands in its variables.
  func matches(_ path: String) -> Bool {
    let parts = path.split(separator: "/")
    return parts.count == components.count && zip(parts, components).allSatisfy { part, component in component == part }
  }
}
