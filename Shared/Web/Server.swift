import Database
import Foundation
import Hummingbird
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import Traces
import Wire

/// One service, ready to run: its routes, its database, and what works beside them.
package struct Server: Service {
  package let name: String
  package let api: OpenAPI
  /// Known once the server listens.
  package let port = Listening()
  let routes: [RegisteredRoute]
  private let app: Application<Edge>
  private let host: String
  private let wantedPort: Int
  private let database: any Database
  private let lifecycle: Lifecycle
  private let drainFor: Duration
  private let background: [any Service]
  private let exporter: SpanExporter?

  /// - Parameters:
  ///   - routes: adds the service's own; health and `/openapi.json` are there already.
  ///   - patience: how long a request may take, its body included, when its caller does not say that it waits for less.
  ///   - isReady: what else must be there before traffic should come.
  ///   - isQuick: requests that are answered on the event loop of their connection, which serves many others: their
  ///     handlers wait for whatever takes long, and compute for less than a millisecond.
  ///   - holdsTokens: requests whose answers nothing on the way may keep.
  ///   - background: runs beside the server and is stopped after it.
  package init(
    _ service: ServiceName, in surroundings: Surroundings, database: any Database, callers: Callers, api: OpenAPI,
    background: [any Service] = [], patience: Duration = .seconds(30),
    isReady: @escaping @Sendable () async -> Bool = { true },
    isQuick: @escaping @Sendable (Request) -> Bool = { _ in false },
    holdsTokens: @escaping @Sendable (Request) -> Bool = { _ in false }, routes add: (Router<Context>) -> Void
  ) throws {
    let settings = surroundings.settings
    let lifecycle = Lifecycle()
    let router = Router(context: Context.self, options: [.autoGenerateHeadEndpoints])
    let stage = try settings.stage()
    HealthRoutes(database: database, lifecycle: lifecycle, stage: stage, now: surroundings.now, isReady: isReady)
      .add(to: router)
    surroundings.registry.addProcess()
    MetricsRoutes(registry: surroundings.registry, callers: callers, stage: stage).add(to: router)
    router.get("/openapi.json") { _, _ in
      Response(status: .ok, headers: [.contentType: "application/json"], body: .init(byteBuffer: .init(data: api.body)))
    }
    add(router)
    self.name = service.rawValue
    self.api = api
    self.routes = router.routes.map { RegisteredRoute(method: $0.method.rawValue, path: $0.path) }
    self.database = database
    self.lifecycle = lifecycle
    // Only a balancer before several replicas needs the time to notice.
    let drainSeconds = try settings.int("DRAIN_SECONDS", default: stage == .production ? 3 : 0, in: 0...60)
    self.drainFor = .seconds(drainSeconds)
    let deadlines = Deadlines(limit: patience)
    self.background = background + [deadlines]
    let tracer = try surroundings.tracer(for: service)
    self.exporter = tracer?.exporter
    let edge = Edge(
      router: router.buildResponder(), routes: routes, callers: callers, lifecycle: lifecycle,
      deadlines: deadlines, measures: RequestMeasures(in: surroundings.registry), tracer: tracer, isQuick: isQuick,
      holdsTokens: holdsTokens, logger: surroundings.logger)
    self.host = settings.string("HOST", default: "127.0.0.1")
    self.wantedPort = try settings.int("PORT", default: service.defaultPort, in: 0...65535)
    self.app = Self.application(edge, on: host, wantedPort, surroundings.logger, port)
  }

  private static func application(
    _ edge: Edge, on host: String, _ port: Int, _ logger: Logger, _ listening: Listening
  ) -> Application<Edge> {
    var quiet = logger
    quiet.logLevel = max(logger.logLevel, .warning)
    return Application(
      responder: edge,
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
      logger: quiet)
  }

  /// Serves until graceful shutdown: first "not ready" for as long as balancers need to notice, then no new connections,
  /// then the end of what runs.
  package func run() async throws {
    guard let exporter else { return try await serve() }
    try await exporter.during { try await serve() }
  }

  private func serve() async throws {
    defer { port.ended() }
    let listener = Listener(app: app, port: port)
    let parts: [any Service] = background + [listener, Draining(lifecycle: lifecycle, lasting: drainFor, port: port)]
    do {
      try await ServiceGroup(
        configuration: .init(
          services: parts.map {
            .init(
              service: $0, successTerminationBehavior: .gracefullyShutdownGroup,
              failureTerminationBehavior: .gracefullyShutdownGroup)
          },
          logger: app.logger)
      ).run()
    } catch {
      await database.close()
      throw StartFailure.of(error, host: host, port: wantedPort)
    }
    await database.close()
  }
}

/// The HTTP server, which says so when it could not start.
private struct Listener: Service {
  let app: Application<Edge>
  let port: Listening

  func run() async throws {
    do { try await app.run() } catch {
      port.ended()
      throw error
    }
  }
}

/// Holds the stop back while others find out about it, and until the start is over: a server that is stopped before it
/// takes connections traps in its library.
private struct Draining: Service {
  let lifecycle: Lifecycle
  let lasting: Duration
  let port: Listening

  func run() async throws {
    try await gracefulShutdown()
    lifecycle.drain()
    // `try?`: it did not start, so there is nothing to wait for.
    guard (try? await port.number) != nil else { return }
    try await Task.sleep(for: max(lasting, .milliseconds(20)))
  }
}

/// Binds the configured address and lets go of it again.
///
/// - Throws: ``StartFailure`` when something else listens there.
package func requireFreePort(of settings: Settings, _ defaultPort: Int) async throws {
  let host = settings.string("HOST", default: "127.0.0.1")
  let port = try settings.int("PORT", default: defaultPort, in: 0...65535)
  do {
    try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .bind(host: host, port: port).get().close()
  } catch {
    throw StartFailure.of(error, host: host, port: port)
  }
}

extension StartFailure {
  /// One clear line for the two ways in which listening usually fails.
  package static func of(_ error: any Error, host: String, port: Int) -> any Error {
    guard let error = error as? IOError else { return error }
    switch error.errnoCode {
    case EADDRINUSE: return StartFailure("port \(port) is in use by another program")
    case EACCES, EADDRNOTAVAIL: return StartFailure("cannot listen on \(host):\(port)")
    default: return error
    }
  }
}
