import Logging
import NIOCore
import NIOPosix
import NIOSSL
import ServiceLifecycle
import Traces
import UnixSignals
import Web

/// Accepts client connections; each is served by one event loop from start to end.
package struct GatewayServer: Service {
  package static let defaultPort = ServiceAddresses.gatewayPort
  package let port = ListeningPort()
  let state: GatewayState
  private let certificate: Certificate?
  let upstreams: Upstreams
  let loops: EventLoops
  private let exporter: SpanExporter?
  private let host: String
  private let configuredPort: Int
  private let drainDelay: Duration
  private let logger: Logger
  let makeLoop: @Sendable (any EventLoop) -> EventLoopState
  /// How long requests in flight may still take when the gateway stops.
  private static let shutdownTimeout = Duration.seconds(20)

  init(
    state: GatewayState, certificate: Certificate?, upstreams: Upstreams, loops: EventLoops, exporter: SpanExporter?,
    host: String, configuredPort: Int, drainDelay: Duration, logger: Logger,
    makeLoop: @escaping @Sendable (any EventLoop) -> EventLoopState
  ) {
    self.state = state
    self.certificate = certificate
    self.upstreams = upstreams
    self.loops = loops
    self.exporter = exporter
    self.host = host
    self.configuredPort = configuredPort
    self.drainDelay = drainDelay
    self.logger = logger
    self.makeLoop = makeLoop
  }

  /// Serves until graceful shutdown. Then the gateway reports "not ready" for `drainDelay`, so that load balancers
  /// notice, stops accepting connections, and waits for the requests in flight.
  package func run() async throws {
    guard let exporter else { return try await serve() }
    try await exporter.during { try await serve() }
  }

  private func serve() async throws {
    defer { port.ended() }
    OpenFiles.raiseLimit()
    try await loops.start(makeLoop)
    let channel = try await listen()
    let bound = channel.localAddress?.port ?? configuredPort
    logger.info("listening", metadata: ["host": "\(host)", "port": .stringConvertible(bound), "tls": "\(state.isTLS)"])
    port.opened(on: bound, channel)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for service in state.verification.background { group.addTask { try await service.run() } }
      group.addTask { try await upstreams.run() }
      if let certificate { group.addTask { await reload(certificate) } }
      try await gracefulShutdown()
      state.lifecycle.drain()
      if drainDelay > .zero {
        try await Task.sleep(for: drainDelay)
        await channel.emptyAcceptQueue()
      }
      try await channel.close()
      await drain()
    }
  }

  private func listen() async throws -> any Channel {
    let plain = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
    // Accepted sockets inherit these options from the listening socket.
    let bootstrap = TCPKeepAlive.options.reduce(plain) { $0.serverChannelOption($1.option, value: $1.value) }
      .serverChannelOption(.backlog, value: 4096)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.autoRead, value: false)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      // The channel keeps the buffer of its first read for good. Most heads are smaller; larger ones take two reads.
      .childChannelOption(
        .recvAllocator, value: AdaptiveRecvByteBufferAllocator(minimum: 64, initial: 1024, maximum: 64 * 1024)
      )
      .childChannelInitializer { [state, loops, certificate] channel in
        channel.eventLoop.makeCompletedFuture {
          guard let loop = loops.state(of: channel.eventLoop) else { throw ChannelError.eof }
          let pipeline = channel.pipeline.syncOperations
          if let certificate { try pipeline.addHandler(NIOSSLServerHandler(context: certificate.context)) }
          try pipeline.addHandler(ClientHandler(state, on: loop))
        }
      }
    do { return try await bootstrap.bind(host: host, port: configuredPort).get() } catch {
      throw StartFailure.listening(error, host: host, port: configuredPort)
    }
  }

  /// Reloads the certificate on SIGHUP. New connections use the new one.
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
    let end = ContinuousClock.now + Self.shutdownTimeout
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
