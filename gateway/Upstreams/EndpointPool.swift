import NIOCore
import NIOPosix
import NIOSSL
import Web

/// The keep-alive connections of one event loop to one address of a service.
final class EndpointPool {
  let endpoint: Endpoint
  /// The lines that every request to this service carries.
  let lines: [UInt8]
  private let loop: any EventLoop
  private let tls: NIOSSLContext?
  private let resolver: (any Resolver & Sendable)?
  private var idle: [UpstreamHandler] = []
  private var open = 0
  /// No longer among the service's addresses: what runs ends, nothing is kept.
  var isRetired = false {
    didSet { if isRetired { closeIdle { _ in true } } }
  }

  /// So that several can be tried within a second or two.
  private static let connectFor = TimeAmount.milliseconds(800)
  private static let openMax = 1024
  private static let idleMax = 256
  /// Shorter than the services', so that it is the gateway that closes and no request meets a closing connection.
  private static let idleFor = TimeAmount.seconds(30)

  /// - Parameter resolver: nil: the system's.
  init(
    _ endpoint: Endpoint, key: String, tls: NIOSSLContext?, on loop: any EventLoop,
    resolver: (any Resolver & Sendable)? = nil
  ) {
    self.endpoint = endpoint
    self.loop = loop
    self.tls = tls
    self.resolver = resolver
    lines = Array("host: \(endpoint.url.authority)\r\nx-service-key: \(key)\r\n".utf8)
  }

  /// Requests that are under way on it.
  var busy: Int { open - idle.count }

  /// A connection that was kept, if there is one.
  func kept() -> UpstreamHandler? {
    while let handler = idle.popLast() {
      if handler.isOpen { return handler }
    }
    return nil
  }

  /// A new connection; nil when none can be made within 800 ms.
  func connect(_ done: @escaping (UpstreamHandler?) -> Void) {
    guard open < Self.openMax else { return done(nil) }
    let handler = UpstreamHandler(self)
    open += 1
    // The handlers come when the connection stands: on the way there, several addresses may be tried at once.
    channel().assumeIsolated().whenComplete { [self] result in
      do { try add(handler, to: try result.get()) } catch {
        open -= 1
        if let event = EndpointHealth.Event(connecting: error) { endpoint.note(event) }
        return done(nil)
      }
      guard tls != nil else { return connected(handler, done) }
      secure(handler, done)
    }
  }

  private func add(_ handler: UpstreamHandler, to channel: any Channel) throws {
    do {
      guard channel.isActive else { throw ChannelError.ioOnClosedChannel }
      let pipeline = channel.pipeline.syncOperations
      if let tls { try pipeline.addHandler(Self.tlsHandler(tls, endpoint.url.host)) }
      try pipeline.addHandler(handler)
    } catch {
      channel.close(promise: nil)
      throw error
    }
  }

  private func connected(_ handler: UpstreamHandler, _ done: (UpstreamHandler?) -> Void) {
    endpoint.note(.connected)
    done(handler)
  }

  /// A connection counts once TLS is agreed on: before that nothing has been asked, and somebody else can still be.
  private func secure(_ handler: UpstreamHandler, _ done: @escaping (UpstreamHandler?) -> Void) {
    var isLate = false
    let late = loop.assumeIsolated().scheduleTask(in: Self.connectFor) {
      isLate = true
      handler.close()
    }
    handler.whenSecure = { [self] isSecure in
      late.cancel()
      if isSecure { return connected(handler, done) }
      endpoint.note(isLate ? .lateConnection : .unreachable)
      done(nil)
    }
    handler.read()
  }

  private func channel() -> EventLoopFuture<any Channel> {
    let bootstrap = KeepAlive.options.reduce(ClientBootstrap(group: loop)) {
      $0.channelOption($1.option, value: $1.value)
    }
    .resolver(resolver)
    .connectTimeout(Self.connectFor)
    .channelOption(.autoRead, value: false)
    .channelOption(.socketOption(.tcp_nodelay), value: 1)
    if let address = endpoint.address { return bootstrap.connect(to: address) }
    return bootstrap.connect(host: endpoint.url.host, port: endpoint.url.port)
  }

  private static func tlsHandler(_ context: NIOSSLContext, _ host: String) throws -> NIOSSLClientHandler {
    // An address cannot be named in SNI (RFC 6066 §3). `try?`: what is not an address is a name.
    let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
    return try NIOSSLClientHandler(context: context, serverHostname: isAddress ? nil : host)
  }

  /// Takes back a connection whose exchange ended cleanly.
  func keep(_ handler: UpstreamHandler) {
    guard !isRetired, idle.count < Self.idleMax else { return handler.close() }
    idle.append(handler)
  }

  func closed(_ handler: UpstreamHandler) {
    open -= 1
    if let index = idle.lastIndex(where: { $0 === handler }) { idle.remove(at: index) }
  }

  /// Closes what has lain idle for too long.
  func sweep(at now: NIODeadline) {
    closeIdle { $0.idleSince + Self.idleFor <= now }
  }

  /// With TLS a close takes a while. Nobody must be given the connection meanwhile, so it is taken out first.
  private func closeIdle(_ isToClose: (UpstreamHandler) -> Bool) {
    guard idle.contains(where: isToClose) else { return }
    let closing = idle.filter(isToClose)
    idle.removeAll(where: isToClose)
    for handler in closing { handler.close() }
  }
}
