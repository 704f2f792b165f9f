import NIOCore
import NIOHTTP1
import NIOPosix
import Web

/// The keep-alive connections of one event loop to one service.
final class UpstreamPool {
  private let service: ServiceName
  private let neighbours: Neighbours
  private let loop: any EventLoop
  private var idle: [UpstreamHandler] = []
  private var open = 0
  private var turn = 0
  private static let openMax = 1024
  private static let idleMax = 128
  /// Shorter than the services', so that it is the gateway that closes and no request meets a closing connection.
  static let idleFor = TimeAmount.seconds(30)

  init(_ service: ServiceName, _ neighbours: Neighbours, on loop: any EventLoop) {
    self.service = service
    self.neighbours = neighbours
    self.loop = loop
  }

  var host: String { service.rawValue }

  /// A connection that was kept, if there is one.
  func kept() -> UpstreamHandler? {
    while let handler = idle.popLast() {
      if handler.isOpen { return handler }
    }
    return nil
  }

  /// A new connection, to each of the service's addresses in turn until one accepts.
  func connect(_ done: @escaping (UpstreamHandler?) -> Void) {
    let urls = neighbours.urls(of: service)
    guard open < Self.openMax, !urls.isEmpty else { return done(nil) }
    turn &+= 1
    connect(to: urls, tries: urls.count, done)
  }

  private func connect(to urls: [String], tries: Int, _ done: @escaping (UpstreamHandler?) -> Void) {
    guard tries > 0, let address = Address(urls[(turn &+ tries) % urls.count]) else { return done(nil) }
    let handler = UpstreamHandler(pool: self)
    open += 1
    channel(to: address, handler).assumeIsolated().whenComplete { [self] result in
      switch result {
      case .success: done(handler)
      case .failure:
        open -= 1
        connect(to: urls, tries: tries - 1, done)
      }
    }
  }

  private func channel(to address: Address, _ handler: UpstreamHandler) -> EventLoopFuture<any Channel> {
    let bound = NIOLoopBound(handler, eventLoop: loop)
    let bootstrap = ClientBootstrap(group: loop)
      .connectTimeout(.milliseconds(800))
      .channelOption(.autoRead, value: false)
      .channelOption(.socketOption(.tcp_nodelay), value: 1)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          var encoding = HTTPRequestEncoder.Configuration()
          encoding.automaticallySetFramingHeaders = false
          let pipeline = channel.pipeline.syncOperations
          try pipeline.addHTTPClientHandlers(
            enableOutboundHeaderValidation: false, encoderConfiguration: encoding, withClientUpgrade: nil)
          try pipeline.addHandler(bound.value)
        }
      }
    // An address needs no resolver, and the resolver needs a thread.
    // `try?`: what is not an address is a name.
    if let literal = try? SocketAddress(ipAddress: address.host, port: address.port) {
      return bootstrap.connect(to: literal)
    }
    return bootstrap.connect(host: address.host, port: address.port)
  }

  /// Takes back a connection whose exchange ended cleanly.
  func keep(_ handler: UpstreamHandler) {
    guard idle.count < Self.idleMax else { return handler.close() }
    idle.append(handler)
  }

  func closed(_ handler: UpstreamHandler) {
    open -= 1
    idle.removeAll { $0 === handler }
  }

  /// Closes what has lain idle for too long.
  func sweep(at now: NIODeadline) {
    for handler in idle where handler.idleSince + Self.idleFor <= now { handler.close() }
  }
}

/// Host and port of an `http://` URL.
struct Address {
  let host: String
  let port: Int

  init?(_ url: String) {
    guard url.hasPrefix("http://") else { return nil }
    let authority = url.dropFirst(7).prefix { $0 != "/" }
    if authority.hasPrefix("["), let end = authority.firstIndex(of: "]") {
      host = String(authority[authority.index(after: authority.startIndex)..<end])
      let rest = authority[authority.index(after: end)...]
      guard let port = rest.isEmpty ? 80 : Int(rest.dropFirst()) else { return nil }
      self.port = port
    } else {
      let parts = authority.split(separator: ":", maxSplits: 1)
      guard let name = parts.first, let port = parts.count == 1 ? 80 : Int(parts[1]) else { return nil }
      host = String(name)
      self.port = port
    }
  }
}
