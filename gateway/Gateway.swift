import Clients
import Foundation
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import ServiceLifecycle
import Web
import Wire

/// The gateway: where everything meets.
package func buildGateway(_ surroundings: Surroundings, routes: [Route] = publicRoutes) throws -> GatewayServer {
  let settings = surroundings.settings
  let lifecycle = Lifecycle()
  let verification = try Verification(in: surroundings)
  let keys = try ServiceKeys(settings)
  let users = UsersClient(in: surroundings)
  let health = GatewayHealth(
    surroundings.neighbours, stage: try settings.stage(), lifecycle: lifecycle, now: surroundings.now)
  let state = try GatewayState(
    table: RouteTable(routes), serviceKey: try settings.secret("SERVICE_KEY"), verification: verification,
    health: health, lifecycle: lifecycle, logger: surroundings.logger)
  let group = MultiThreadedEventLoopGroup.singleton
  let loops = group.makeIterator().map { loop in
    let bound = NIOLoopBoundBox.makeEmptyBox(valueType: LoopState.self, eventLoop: loop)
    return (loop, bound)
  }
  return GatewayServer(
    state: state, host: settings.string("HOST", default: "127.0.0.1"),
    wantedPort: try settings.int("PORT", default: GatewayServer.defaultPort, in: 0...65535),
    drainFor: .seconds(
      try settings.int("DRAIN_SECONDS", default: try settings.stage() == .production ? 3 : 0, in: 0...60)),
    loops: loops, logger: surroundings.logger,
    makeLoop: { loop in
      LoopState(
        on: loop, bearer: Bearer(verification, keys: keys, users: users, now: surroundings.now),
        neighbours: surroundings.neighbours)
    })
}

/// Accepts connections and hands each to the event loop that will carry it from start to end.
package struct GatewayServer: Service {
  package static let defaultPort = 8080
  package let port = Listening()
  private let state: GatewayState
  private let host: String
  private let wantedPort: Int
  private let drainFor: Duration
  private let loops: [(any EventLoop, NIOLoopBoundBox<LoopState?>)]
  private let logger: Logger
  private let makeLoop: @Sendable (any EventLoop) -> LoopState
  /// How long requests that are under way may still take when the gateway stops.
  private static let finishFor = Duration.seconds(20)

  init(
    state: GatewayState, host: String, wantedPort: Int, drainFor: Duration,
    loops: [(any EventLoop, NIOLoopBoundBox<LoopState?>)], logger: Logger,
    makeLoop: @escaping @Sendable (any EventLoop) -> LoopState
  ) {
    self.state = state
    self.host = host
    self.wantedPort = wantedPort
    self.drainFor = drainFor
    self.loops = loops
    self.logger = logger
    self.makeLoop = makeLoop
  }

  /// Serves until graceful shutdown: "not ready" while balancers find out, then no new connections, then the end of what
  /// is under way.
  package func run() async throws {
    defer { port.ended() }
    try await onEachLoop { loop, box in
      let made = makeLoop(loop)
      made.start()
      box.value = made
    }
    let channel = try await listen()
    let bound = channel.localAddress?.port ?? wantedPort
    logger.info("listening", metadata: ["host": "\(host)", "port": .stringConvertible(bound)])
    port.opened(on: bound)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await state.verification.feed.run() }
      try await gracefulShutdown()
      state.lifecycle.drain()
      try await Task.sleep(for: drainFor)
      try await channel.close()
      await drain()
    }
  }

  private func listen() async throws -> any Channel {
    let boxes = Dictionary(loops.map { (ObjectIdentifier($0.0), $0.1) }) { first, _ in first }
    let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.backlog, value: 4096)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.autoRead, value: false)
      .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
      .childChannelInitializer { [state] channel in
        channel.eventLoop.makeCompletedFuture {
          guard let loop = boxes[ObjectIdentifier(channel.eventLoop)]?.value else { throw ChannelError.eof }
          try Self.configure(channel, state, loop)
        }
      }
    do { return try await bootstrap.bind(host: host, port: wantedPort).get() } catch {
      throw StartFailure.of(error, host: host, port: wantedPort)
    }
  }

  private static func configure(_ channel: any Channel, _ state: GatewayState, _ loop: LoopState) throws {
    var encoding = HTTPResponseEncoder.Configuration()
    encoding.automaticallySetFramingHeaders = false
    var limits = NIOHTTPDecoderLimitConfiguration()
    limits.maxHeaderFieldSize = 16 * 1024
    limits.maxHeaderListSize = 16 * 1024
    limits.maxHeaderFieldCount = Canonical.headersMax + 1
    let pipeline = channel.pipeline.syncOperations
    try pipeline.configureHTTPServerPipeline(
      withPipeliningAssistance: false, withErrorHandling: false, withOutboundHeaderValidation: true,
      withEncoderConfiguration: encoding, withDecoderLimitConfiguration: limits)
    try pipeline.addHandler(ClientHandler(state, on: loop))
  }

  private func drain() async {
    let end = ContinuousClock.now + Self.finishFor
    do {
      try await onEachLoop { _, box in box.value?.drain() }
      while try await openConnections() > 0, ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(20)) }
      try await onEachLoop { _, box in box.value?.closeAll() }
    } catch {
      logger.warning("connections were cut off", metadata: ["error": "\(error)"])
    }
  }

  private func openConnections() async throws -> Int {
    var count = 0
    for (loop, box) in loops { count += try await loop.submit { box.value?.clientCount ?? 0 }.get() }
    return count
  }

  private func onEachLoop(
    _ body: @escaping @Sendable (any EventLoop, NIOLoopBoundBox<LoopState?>) -> Void
  ) async throws {
    for (loop, box) in loops { try await loop.submit { body(loop, box) }.get() }
  }
}
