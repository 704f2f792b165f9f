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
  /// For callers in the same process.
  package let local: LocalListener
  let routes: [RegisteredRoute]
  private let http: any Service
  /// nil when only the port is used.
  private let socket: UnixSocketListener?
  private let logger: Logger
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
  ///   - healthDetails: further members of the body of `/health`, which have no effect on its status.
  ///   - holdsTokens: requests whose responses no cache may store.
  ///   - takeover: connections on which another protocol than HTTP is spoken.
  ///   - routes: adds the service's own routes; `/health`, `/metrics` and `/openapi.json` are added here. Handlers run
  ///     on the event loop of their connection, which serves many others: they do not block, and those that compute
  ///     for more than a millisecond are in a group ``RouterMethods/offEventLoop()``.
  package init(
    _ service: ServiceName, in dependencies: Dependencies, database: any Database, authenticator: CallerAuthenticator,
    api: OpenAPI, background: [any Service] = [], requestTimeout: Duration = .seconds(30),
    isReady: @escaping @Sendable () async -> Bool = { true },
    healthDetails: @escaping @Sendable () -> [String: JSONValue] = { [:] },
    holdsTokens: @escaping @Sendable (Request) -> Bool = { _ in false }, takeover: ConnectionTakeover? = nil,
    routes add: (HTTPRoutes) -> Void
  ) throws {
    let settings = dependencies.settings
    let lifecycle = Lifecycle()
    let routes = HTTPRoutes()
    let stage = try settings.stage()
    HealthRoutes(
      database: database, lifecycle: lifecycle, stage: stage, now: dependencies.now, isReady: isReady,
      details: healthDetails
    ).add(to: routes)
    dependencies.registry.addProcessMetrics()
    dependencies.registry.addLogMetrics()
    MetricsRoutes(registry: dependencies.registry, authenticator: authenticator, stage: stage).add(to: routes)
    routes.get("/openapi.json") { _, _ in
      Response(
        status: .ok, headers: [.contentType: "application/json"], body: .init(byteBuffer: .init(data: try api.body)))
    }
    add(routes)
    self.service = service
    self.api = api
    self.routes = routes.registered
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
      router: routes.responder, routes: self.routes, authenticator: authenticator, lifecycle: lifecycle,
      deadlines: deadlines, metrics: RequestMetrics(in: dependencies.registry), tracer: tracer,
      holdsTokens: holdsTokens, logger: dependencies.logger, accessLog: AccessLog(dependencies.logger))
    self.host = settings.string("HOST", default: "127.0.0.1")
    self.configuredPort = try settings.int("PORT", default: service.defaultPort, in: 0...65535)
    let (host, logger, port) = (host, dependencies.logger, port)
    self.logger = logger.warningsOnly
    let server = EventLoopServer(
      HTTPService(
        respond: boundary.respond, loopRoutes: LoopRoutes(routes.loopRoutes, within: boundary), refuse: boundary.refuse,
        logger: self.logger), takeover: takeover)
    self.local = LocalListener(server, logger: self.logger)
    self.socket = try SocketURL.path(of: service, settings).map {
      try UnixSocketListener($0, server, after: port, logger: logger)
    }
    self.http = server.service(.hostname(host, port: configuredPort)) { [configuredPort] channel in
      let bound = channel.localAddress?.port ?? configuredPort
      logger.info("listening", metadata: ["host": "\(host)", "port": .stringConvertible(bound)])
      port.opened(on: bound, channel)
    }
  }

  /// Serves until graceful shutdown: readiness fails first, for as long as load balancers need to notice; then no new
  /// connections are accepted; then the requests in flight end.
  package func run() async throws {
    guard let exporter else { return try await serve() }
    try await exporter.during { try await serve() }
  }

  private func serve() async throws {
    defer { port.ended() }
    OpenFiles.raiseLimit()
    let listener = Listener(http: http, port: port, socket: socket)
    let drain = ShutdownDelay(lifecycle: lifecycle, duration: drainDelay, port: port, socket: socket)
    let services: [any Service] = background + [listener, local, drain]
    do {
      try await ServiceGroup(
        configuration: .init(
          services: services.map {
            .init(ofType: $0, onSuccess: .gracefullyShutdownGroup, onFailure: .gracefullyShutdownGroup)
          },
          logger: logger)
      ).run()
    } catch {
      await database.close()
      throw StartFailure.listening(error, host: host, port: configuredPort)
    }
    await database.close()
  }
}

/// The HTTP server on its port and on its socket, which stop together. Marks the port as ended when it could not start.
private struct Listener: Service {
  let http: any Service
  let port: ListeningPort
  let socket: UnixSocketListener?

  func run() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      if let socket { group.addTask { await socket.run() } }
      do { try await http.run() } catch {
        port.ended()
        throw error
      }
      try await group.waitForAll()
    }
  }
}

/// Delays the shutdown while load balancers notice it, and until the server listens: one that is stopped before it
/// accepts connections traps in its library. Stops it when its socket could not be opened.
private struct ShutdownDelay: Service {
  let lifecycle: Lifecycle
  let duration: Duration
  let port: ListeningPort
  let socket: UnixSocketListener?

  func run() async throws {
    if let failure = await socket?.startFailure {
      try await Task.sleep(for: .milliseconds(20))
      throw failure
    }
    try await gracefulShutdown()
    lifecycle.drain()
    // `try?`: when it did not start there is nothing to wait for.
    guard (try? await port.number) != nil else { return }
    try await Task.sleep(for: max(duration, .milliseconds(20)))
    guard duration > .zero else { return }
    async let socketIsEmpty: Void? = socket?.emptyAcceptQueue()
    await port.emptyAcceptQueue()
    await socketIsEmpty
  }
}
