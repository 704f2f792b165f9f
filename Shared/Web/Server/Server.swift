import Database
import Foundation
import Hummingbird
import Logging
import NIOCore
import ServiceLifecycle
import Traces
import Wire

/// One service, ready to run: its HTTP server, its database and its background services.
package struct Server: Service {
  package let service: ServiceName
  package let api: OpenAPI
  package let port = ListeningPort()
  let routes: [RegisteredRoute]
  private let app: Application<BoundaryMiddleware>
  private let host: String
  private let configuredPort: Int
  private let database: any Database
  private let lifecycle: Lifecycle
  private let drainDelay: Duration
  private let background: [any Service]
  private let exporter: SpanExporter?

  /// - Parameters:
  ///   - background: services that run beside the server and stop after it.
  ///   - requestTimeout: how long a request may take, its body included, unless its caller asks for less.
  ///   - isReady: further conditions for readiness.
  ///   - runsOnEventLoop: requests that run on the event loop of their connection, which serves many others: their
  ///     handlers do not block, and compute for less than a millisecond.
  ///   - holdsTokens: requests whose responses no cache may store.
  ///   - routes: adds the service's own routes; `/health`, `/metrics` and `/openapi.json` are added here.
  package init(
    _ service: ServiceName, in dependencies: Dependencies, database: any Database, authenticator: CallerAuthenticator,
    api: OpenAPI, background: [any Service] = [], requestTimeout: Duration = .seconds(30),
    isReady: @escaping @Sendable () async -> Bool = { true },
    runsOnEventLoop: @escaping @Sendable (Request) -> Bool = { _ in false },
    holdsTokens: @escaping @Sendable (Request) -> Bool = { _ in false }, routes add: (Router<Context>) -> Void
  ) throws {
    let settings = dependencies.settings
    let lifecycle = Lifecycle()
    let router = Router(context: Context.self, options: [.autoGenerateHeadEndpoints])
    let stage = try settings.stage()
    HealthRoutes(database: database, lifecycle: lifecycle, stage: stage, now: dependencies.now, isReady: isReady)
      .add(to: router)
    dependencies.registry.addProcessMetrics()
    dependencies.registry.addLogMetrics()
    MetricsRoutes(registry: dependencies.registry, authenticator: authenticator, stage: stage).add(to: router)
    router.get("/openapi.json") { _, _ in
      Response(status: .ok, headers: [.contentType: "application/json"], body: .init(byteBuffer: .init(data: api.body)))
    }
    add(router)
    self.service = service
    self.api = api
    self.routes = router.routes.map { RegisteredRoute(method: $0.method.rawValue, path: $0.path) }
    self.database = database
    self.lifecycle = lifecycle
    // Only a load balancer before several replicas needs this time, to notice that readiness fails.
    let drainSeconds = try settings.int("DRAIN_SECONDS", default: stage == .production ? 3 : 0, in: 0...60)
    self.drainDelay = .seconds(drainSeconds)
    let deadlines = RequestDeadlines(limit: requestTimeout)
    self.background = background
    let tracer = try dependencies.tracer(for: service)
    self.exporter = tracer?.exporter
    let boundary = BoundaryMiddleware(
      router: router.buildResponder(), routes: routes, authenticator: authenticator, lifecycle: lifecycle,
      deadlines: deadlines, metrics: RequestMetrics(in: dependencies.registry), tracer: tracer,
      runsOnEventLoop: runsOnEventLoop, holdsTokens: holdsTokens, logger: dependencies.logger,
      accessLog: AccessLog(dependencies.logger))
    self.host = settings.string("HOST", default: "127.0.0.1")
    self.configuredPort = try settings.int("PORT", default: service.defaultPort, in: 0...65535)
    self.app = Self.application(boundary, on: host, configuredPort, dependencies.logger, port)
  }

  private static func application(
    _ boundary: BoundaryMiddleware, on host: String, _ port: Int, _ logger: Logger, _ listening: ListeningPort
  ) -> Application<BoundaryMiddleware> {
    Application(
      responder: boundary,
      server: EventLoopServer.http1(
        .init(
          idleTimeout: .seconds(75),
          httpDecoderConfiguration: .init(
            maxHeaderFieldSize: 16 * 1024, maxHeaderListSize: 24 * 1024, maxHeaderFieldCount: 96))),
      configuration: .init(address: .hostname(host, port: port), backlog: 1024),
      onServerRunning: { channel in
        let bound = channel.localAddress?.port ?? port
        logger.info("listening", metadata: ["host": "\(host)", "port": .stringConvertible(bound)])
        listening.opened(on: bound)
      },
      logger: logger.warningsOnly)
  }

  /// Serves until graceful shutdown: readiness fails first, for as long as load balancers need to notice; then no new
  /// connections are accepted; then the requests in flight end.
  package func run() async throws {
    guard let exporter else { return try await serve() }
    try await exporter.during { try await serve() }
  }

  private func serve() async throws {
    defer { port.ended() }
    let listener = Listener(app: app, port: port)
    let drain = ShutdownDelay(lifecycle: lifecycle, duration: drainDelay, port: port)
    let services: [any Service] = background + [listener, drain]
    do {
      try await ServiceGroup(
        configuration: .init(
          services: services.map {
            .init(
              service: $0, successTerminationBehavior: .gracefullyShutdownGroup,
              failureTerminationBehavior: .gracefullyShutdownGroup)
          },
          logger: app.logger)
      ).run()
    } catch {
      await database.close()
      throw StartFailure.listening(error, host: host, port: configuredPort)
    }
    await database.close()
  }
}

/// The HTTP server. Marks its port as ended when it could not start.
private struct Listener: Service {
  let app: Application<BoundaryMiddleware>
  let port: ListeningPort

  func run() async throws {
    do { try await app.run() } catch {
      port.ended()
      throw error
    }
  }
}

/// Delays the shutdown while load balancers notice it, and until the server listens: one that is stopped before it
/// accepts connections traps in its library.
private struct ShutdownDelay: Service {
  let lifecycle: Lifecycle
  let duration: Duration
  let port: ListeningPort

  func run() async throws {
    try await gracefulShutdown()
    lifecycle.drain()
    // `try?`: when it did not start there is nothing to wait for.
    guard (try? await port.number) != nil else { return }
    try await Task.sleep(for: max(duration, .milliseconds(20)))
  }
}
