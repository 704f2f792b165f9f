import Logging
import NIOCore
import NIOPosix
import NIOSSL

/// The Redis client of one event loop: one connection at a time, reconnected with increasing delays when it fails.
final class RedisClient {
  let url: RedisURL
  let loop: any EventLoop
  /// How long a reply may take. A Redis that takes longer counts as unavailable, because waiting for it would cost more
  /// than counting without it.
  let timeout: TimeAmount
  private let outageLog: RedisOutageLog
  private let logger: Logger
  private let completion: (RedisCommand, RedisReply?) -> Void
  private var connection: RedisConnection?
  private var isUnavailable = false
  private var isStopped = false
  private var reconnect: Scheduled<Void>?
  private var delay = RedisClient.delayMin
  private var readyAt: NIODeadline?
  /// Half of each delay is random, so that event loops and gateways do not reconnect all at once.
  private static let delayMin = TimeAmount.milliseconds(200)
  private static let delayMax = TimeAmount.seconds(5)

  /// - Parameter completion: called once for each command that was sent, with nil when there is no reply.
  init(
    to url: RedisURL, on loop: any EventLoop, timeout: TimeAmount, outageLog: RedisOutageLog, logger: Logger,
    completion: @escaping (RedisCommand, RedisReply?) -> Void
  ) {
    self.url = url
    self.loop = loop
    self.timeout = timeout
    self.outageLog = outageLog
    self.logger = logger
    self.completion = completion
    connect()
  }

  var isReady: Bool { connection?.isReady ?? false }

  /// - Returns: false when the command cannot be sent; then the completion is not called.
  func send(_ command: RedisCommand) -> Bool { connection?.send(command) ?? false }

  func stop() {
    guard !isStopped else { return }
    isStopped = true
    reconnect?.cancel()
    connection?.end("stopped", isFault: false)
  }

  // MARK: Called by the connection

  func completed(_ command: RedisCommand, _ reply: RedisReply?) { completion(command, reply) }

  func ready(_ connection: RedisConnection) {
    readyAt = .now()
    guard isUnavailable else { return }
    isUnavailable = false
    outageLog.ended(url, logger)
  }

  func ended(_ connection: RedisConnection, _ reason: String, isFault: Bool) {
    guard self.connection === connection else { return }
    self.connection = nil
    guard !isStopped else { return }
    if isFault, !isUnavailable {
      isUnavailable = true
      outageLog.began(url, reason, logger)
    }
    // The delay is reset only after a connection that lasted: one that failed at once would likely fail again.
    if let readyAt, .now() - readyAt > Self.delayMax { delay = Self.delayMin }
    readyAt = nil
    let half = delay.nanoseconds / 2
    reconnect = loop.assumeIsolated().scheduleTask(in: .nanoseconds(half + .random(in: 0...half))) { [self] in
      connect()
    }
    delay = min(delay + delay, Self.delayMax)
  }

  // MARK: Connecting

  private func connect() {
    guard !isStopped else { return }
    let connection = RedisConnection(of: self)
    self.connection = connection
    // Handlers are added when the connection is established: until then several addresses may be tried at once.
    channel().assumeIsolated().whenComplete { [self] result in
      do { try prepare(try result.get(), for: connection) } catch { connection.end("\(error)") }
    }
  }

  private func prepare(_ channel: any Channel, for connection: RedisConnection) throws {
    let pipeline = channel.pipeline.syncOperations
    do {
      if let tls = url.tls {
        // The certificate has to contain the name; for a literal address NIOSSL checks the address of the peer.
        let name = literalAddress == nil ? url.host : nil
        try pipeline.addHandler(try NIOSSLClientHandler(context: tls, serverHostname: name))
      }
      try pipeline.addHandler(connection)
    } catch {
      channel.close(promise: nil)
      throw error
    }
  }

  private func channel() -> EventLoopFuture<any Channel> {
    let bootstrap = ClientBootstrap(group: loop)
      .connectTimeout(.seconds(1))
      .channelOption(.tcpOption(.tcp_nodelay), value: 1)
    guard let literalAddress else { return bootstrap.connect(host: url.host, port: url.port) }
    return bootstrap.connect(to: literalAddress)
  }

  /// `try?`: a host that is not an address is a name.
  private var literalAddress: SocketAddress? { try? SocketAddress(ipAddress: url.host, port: url.port) }
}
