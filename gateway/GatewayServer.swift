import Logging
import NIOCore
import NIOPosix
import NIOSSL
import ServiceLifecycle
import Traces
import UnixSignals
import Web

/// Accepts connections and hands each to the event loop that will carry it from start to end.
package struct GatewayServer: Service {
  package static let defaultPort = 8080
  package let port = Listening()
  let state: GatewayState
  private let certificate: Certificate?
  let upstreams: Upstreams
  let loops: Loops
  private let exporter: SpanExporter?
  private let host: String
  private let wantedPort: Int
  private let drainFor: Duration
  private let logger: Logger
  let makeLoop: @Sendable (any EventLoop) -> LoopState
  /// How long requests that are under way may still take when the gateway stops.
  private static let finishFor = Duration.seconds(20)

  init(
    state: GatewayState, certificate: Certificate?, upstreams: Upstreams, loops: Loops, exporter: SpanExporter?,
    host: String, wantedPort: Int, drainFor: Duration, logger: Logger,
    makeLoop: @escaping @Sendable (any EventLoop) -> LoopState
  ) {
    self.state = state
    self.certificate = certificate
    self.upstreams = upstreams
    self.loops = loops
    self.exporter = exporter
    self.host = host
    self.wantedPort = wantedPort
    self.drainFor = drainFor
    self.logger = logger
    self.makeLoop = makeLoop
  }

  /// Serves until graceful shutdown: "not ready" while balancers find out, then no new connections, then the end of what
  /// is under way.
  package func run() async throws {
    guard let exporter else { return try await serve() }
    try await exporter.during { try await serve() }
  }

  private func serve() async throws {
    defer { port.ended() }
    OpenFiles.raiseLimit()
    try await loops.start(makeLoop)
    let channel = try await listen()
    let bound = channel.localAddress?.port ?? wantedPort
    logger.info("listening", metadata: ["host": "\(host)", "port": .stringConvertible(bound), "tls": "\(state.isTLS)"])
    port.opened(on: bound)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for service in state.verification.background { group.addTask { try await service.run() } }
      group.addTask { try await upstreams.run() }
      if let certificate { group.addTask { await reload(certificate) } }
      try await gracefulShutdown()
      state.lifecycle.drain()
      try await Task.sleep(for: drainFor)
      try await channel.close()
      await drain()
    }
  }

  private func listen() async throws -> any Channel {
    let plain = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
    // What is accepted inherits these from what listens.
    let bootstrap = KeepAlive.options.reduce(plain) { $0.serverChannelOption($1.option, value: $1.value) }
      .serverChannelOption(.backlog, value: 4096)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.autoRead, value: false)
      .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
      .childChannelInitializer { [state, loops, certificate] channel in
        channel.eventLoop.makeCompletedFuture {
          guard let loop = loops.state(of: channel.eventLoop) else { throw ChannelError.eof }
          let pipeline = channel.pipeline.syncOperations
          if let certificate { try pipeline.addHandler(NIOSSLServerHandler(context: certificate.context)) }
          try pipeline.addHandler(ClientHandler(state, on: loop))
        }
      }
    do { return try await bootstrap.bind(host: host, port: wantedPort).get() } catch {
      throw StartFailure.of(error, host: host, port: wantedPort)
    }
  }

  /// SIGHUP: the certificate has been renewed. New connections get the new one.
  private func reload(_ certificate: Certificate) async {
    await cancelWhenGracefulShutdown {
      for await _ in await UnixSignalsSequence(trapping: .sighup) {
        do {
          try certificate.reload()
          logger.notice("certificate reloaded")
        } catch {
          logger.error("certificate not reloaded, the old one stays", metadata: ["error": "\(error)"])
        }
      }
    }
  }

  private func drain() async {
    let end = ContinuousClock.now + Self.finishFor
    do {
      _ = await loops.gather { $0.drain() }
      while await loops.gather({ $0.clientCount }).reduce(0, +) > 0, ContinuousClock.now < end {
        try await Task.sleep(for: .milliseconds(20))
      }
    } catch {
      logger.warning("connections were cut off", metadata: ["error": "\(error)"])
    }
    _ = await loops.gather { $0.closeAll() }
  }
}
