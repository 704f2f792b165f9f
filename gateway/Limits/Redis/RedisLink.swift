import Logging
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// Tells once, not for every event loop, that Redis is away, and once that it is back.
package final class RedisOutage: Sendable {
  private let away = Mutex(0)

  package init() {}

  func began(_ url: RedisURL, _ reason: String, _ logger: Logger) {
    guard change(by: 1) == 1 else { return }
    logger.warning(
      "Redis is away: limits are counted by this gateway alone", metadata: ["redis": "\(url)", "reason": "\(reason)"])
  }

  func ended(_ url: RedisURL, _ logger: Logger) {
    guard change(by: -1) == 0 else { return }
    logger.notice("Redis is back: limits are shared again", metadata: ["redis": "\(url)"])
  }

  private func change(by number: Int) -> Int {
    away.withLock { away in
      away += number
      return away
    }
  }
}

/// An event loop's way to Redis: one connection at a time, made anew with growing waits when it breaks.
final class RedisLink {
  let url: RedisURL
  let loop: any EventLoop
  /// How long an answer may take. A Redis that takes longer is away: waiting for it would be worse than doing without.
  let patience: TimeAmount
  private let outage: RedisOutage
  private let logger: Logger
  private let answer: (RedisQuestion, RedisAnswer?) -> Void
  private var connection: RedisConnection?
  private var isAway = false
  private var isStopped = false
  private var retry: Scheduled<Void>?
  private var wait = RedisLink.waitMin
  private var readyAt: NIODeadline?
  /// Half of a wait is chance, so that event loops and gateways do not come back all at once.
  private static let waitMin = TimeAmount.milliseconds(200)
  private static let waitMax = TimeAmount.seconds(5)

  init(
    to url: RedisURL, on loop: any EventLoop, patience: TimeAmount, outage: RedisOutage, logger: Logger,
    answer: @escaping (RedisQuestion, RedisAnswer?) -> Void
  ) {
    self.url = url
    self.loop = loop
    self.patience = patience
    self.outage = outage
    self.logger = logger
    self.answer = answer
    connect()
  }

  var isReady: Bool { connection?.isReady ?? false }

  /// - Returns: false when it cannot be asked.
  func ask(_ question: RedisQuestion) -> Bool { connection?.ask(question) ?? false }

  func stop() {
    guard !isStopped else { return }
    isStopped = true
    retry?.cancel()
    connection?.end("stopped", isFault: false)
  }

  // MARK: Called by the connection

  func answered(_ question: RedisQuestion, _ answer: RedisAnswer?) { self.answer(question, answer) }

  func ready(_ connection: RedisConnection) {
    readyAt = .now()
    guard isAway else { return }
    isAway = false
    outage.ended(url, logger)
  }

  func ended(_ connection: RedisConnection, _ reason: String, isFault: Bool) {
    guard self.connection === connection else { return }
    self.connection = nil
    guard !isStopped else { return }
    if isFault, !isAway {
      isAway = true
      outage.began(url, reason, logger)
    }
    // A connection that broke at once says nothing good of the next one.
    if let readyAt, .now() - readyAt > Self.waitMax { wait = Self.waitMin }
    readyAt = nil
    let half = wait.nanoseconds / 2
    retry = loop.assumeIsolated().scheduleTask(in: .nanoseconds(half + .random(in: 0...half))) { [self] in connect() }
    wait = min(wait + wait, Self.waitMax)
  }

  // MARK: Connecting

  private func connect() {
    guard !isStopped else { return }
    let connection = RedisConnection(of: self)
    self.connection = connection
    // The handlers come when the connection stands: on the way there, several addresses may be tried at once.
    channel().assumeIsolated().whenComplete { [self] result in
      do { try prepare(try result.get(), for: connection) } catch { connection.end("\(error)") }
    }
  }

  private func prepare(_ channel: any Channel, for connection: RedisConnection) throws {
    let pipeline = channel.pipeline.syncOperations
    do {
      if let tls = url.tls {
        // A name has to be in the certificate; for an address, NIOSSL looks for the peer's own.
        let name = literal == nil ? url.host : nil
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
      .channelOption(.socketOption(.tcp_nodelay), value: 1)
    guard let literal else { return bootstrap.connect(host: url.host, port: url.port) }
    return bootstrap.connect(to: literal)
  }

  /// `try?`: what is not an address is a name.
  private var literal: SocketAddress? { try? SocketAddress(ipAddress: url.host, port: url.port) }
}
