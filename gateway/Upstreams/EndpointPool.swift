import NIOCore
import NIOPosix
import NIOSSL
import Web

/// The keep-alive connections of one event loop to one address of a service.
final class EndpointPool {
  let endpoint: Endpoint
  /// The header lines of every request to this endpoint: `Host` and the gateway's service key.
  let headerLines: [UInt8]
  private let loop: any EventLoop
  /// nil for an `http` URL.
  private let tls: UpstreamTLS?
  private let resolver: (any Resolver & Sendable)?
  /// nil for a service in another process.
  private let local: LocalListener?
  private var idle: [UpstreamHandler] = []
  private var open = 0
  /// The number of open tunnels. Their connections do not count as `open`, because they stay for hours.
  private(set) var tunnelCount = 0
  /// Set when the service no longer has this address: exchanges in flight end, and no connection is kept.
  var isRetired = false {
    didSet { if isRetired { closeIdle { _ in true } } }
  }

  /// Short enough to try several endpoints within two or three seconds.
  private static let connectTimeout = TimeAmount.milliseconds(800)
  private static let openMax = 1024
  private static let idleMax = 256
  /// Shorter than the idle timeout of services, so that the gateway closes first and no request is sent on a connection
  /// that the service is closing.
  private static let idleTimeout = TimeAmount.seconds(30)

  /// - Parameters:
  ///   - key: the gateway's service key.
  ///   - resolver: nil for the system's.
  ///   - local: connects to the service where it is in this process.
  init(
    _ endpoint: Endpoint, key: String, tls: UpstreamTLS, on loop: any EventLoop,
    resolver: (any Resolver & Sendable)? = nil, local: LocalListener? = nil
  ) {
    self.endpoint = endpoint
    self.loop = loop
    self.tls = endpoint.url.isTLS ? tls : nil
    self.resolver = resolver
    self.local = local
    headerLines = Array("host: \(endpoint.url.authority)\r\nx-service-key: \(key)\r\n".utf8)
  }

  /// The number of connections with an exchange in flight, or still connecting.
  var activeCount: Int { open - idle.count }

  /// Whether connections are open or being opened.
  var hasConnections: Bool { open > 0 }

  /// Takes an idle connection, if there is one.
  func takeIdle() -> UpstreamHandler? {
    while let handler = idle.popLast() {
      if handler.isOpen { return handler }
    }
    return nil
  }

  /// Opens a connection.
  ///
  /// - Parameters:
  ///   - isForTunnel: whether it will be the end of a tunnel.
  ///   - completion: called on this event loop; with nil when the connection fails or takes longer than 800 ms, or when
  ///     too many are open.
  func connect(isForTunnel: Bool = false, _ completion: @escaping (UpstreamHandler?) -> Void) {
    guard open < Self.openMax else { return completion(nil) }
    let handler = UpstreamHandler(self)
    open += 1
    // Handlers are added when the connection is established: until then several addresses may be tried at once.
    channel(isForTunnel: isForTunnel).assumeIsolated().whenComplete { [self] result in
      do { try add(handler, to: try result.get()) } catch {
        open -= 1
        if let event = EndpointHealth.Event(connecting: error) { endpoint.record(event) }
        return completion(nil)
      }
      guard tls != nil else { return connected(handler, completion) }
      awaitTLS(handler, completion)
    }
  }

  private func add(_ handler: UpstreamHandler, to channel: any Channel) throws {
    do {
      guard channel.isActive else { throw ChannelError.ioOnClosedChannel }
      let pipeline = channel.pipeline.syncOperations
      if let tls { try pipeline.addHandler(Self.tlsHandler(try tls.context(), endpoint.url.host)) }
      try pipeline.addHandler(handler)
    } catch {
      channel.close(promise: nil)
      throw error
    }
  }

  private func connected(_ handler: UpstreamHandler, _ completion: (UpstreamHandler?) -> Void) {
    endpoint.record(.connected)
    completion(handler)
  }

  /// Completes after the TLS handshake: until then no request has been sent, so that another endpoint can still be
  /// tried.
  private func awaitTLS(_ handler: UpstreamHandler, _ completion: @escaping (UpstreamHandler?) -> Void) {
    var hasTimedOut = false
    let timeout = loop.assumeIsolated().scheduleTask(in: Self.connectTimeout) {
      hasTimedOut = true
      handler.close()
    }
    handler.onTLSResult = { [self] isSecure in
      timeout.cancel()
      if isSecure { return connected(handler, completion) }
      endpoint.record(hasTimedOut ? .connectTimeout : .unreachable)
      completion(nil)
    }
    handler.read()
  }

  /// A tunnel goes through the port of the service also within the process, as its ends are sockets that half close.
  private func channel(isForTunnel: Bool) -> EventLoopFuture<any Channel> {
    if let local, !isForTunnel { return loop.makeCompletedFuture { try local.connect(on: loop) } }
    var bootstrap = ClientBootstrap(group: loop)
      .resolver(resolver)
      .connectTimeout(Self.connectTimeout)
      .channelOption(.autoRead, value: false)
    if endpoint.url.socketPath == nil {
      bootstrap = TCPKeepAlive.options.reduce(bootstrap) { $0.channelOption($1.option, value: $1.value) }
        .channelOption(.tcpOption(.tcp_nodelay), value: 1)
    }
    // The channel keeps the buffer of its first read for good.
    if isForTunnel { bootstrap = bootstrap.channelOption(.recvAllocator, value: TransientReceiveBuffers()) }
    if let address = endpoint.address { return bootstrap.connect(to: address) }
    return bootstrap.connect(host: endpoint.url.host, port: endpoint.url.port)
  }

  private static func tlsHandler(_ context: NIOSSLContext, _ host: String) throws -> NIOSSLClientHandler {
    // SNI does not allow addresses (RFC 6066 §3). `try?`: a host that is not an address is a name.
    let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
    return try NIOSSLClientHandler(context: context, serverHostname: isAddress ? nil : host)
  }

  /// Returns a connection whose exchange ended cleanly.
  func returnIdle(_ handler: UpstreamHandler) {
    guard !isRetired, idle.count < Self.idleMax else { return handler.close() }
    idle.append(handler)
  }

  /// Called when a connection has become the end of a tunnel.
  func becameTunnel() {
    open -= 1
    tunnelCount += 1
  }

  func tunnelClosed() { tunnelCount -= 1 }

  func closed(_ handler: UpstreamHandler) {
    open -= 1
    if let index = idle.lastIndex(where: { $0 === handler }) { idle.remove(at: index) }
  }

  /// Closes connections that have been idle for too long.
  func sweep(at now: NIODeadline) {
    closeIdle { $0.idleSince + Self.idleTimeout <= now }
  }

  /// With TLS a close takes a while. The connections are removed first, so that none of them is used meanwhile.
  private func closeIdle(where shouldClose: (UpstreamHandler) -> Bool) {
    guard idle.contains(where: shouldClose) else { return }
    let closing = idle.filter(shouldClose)
    idle.removeAll(where: shouldClose)
    for handler in closing { handler.close() }
  }
}
