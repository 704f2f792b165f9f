import DequeModule
import Foundation
import Logging
import NIOCore
import NIOHTTP1
import Web
import Wire

/// One client's connection: takes requests one after the other, finds out who is calling, and pipes each to its service
/// and the answer back. Bodies are never held: each side reads only when the other has room.
final class ClientHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  /// Where the present exchange stands.
  enum Phase {
    /// Between requests.
    case idle
    /// Waiting for a verdict or for a connection; the body waits in `parts` and in the client's socket.
    case waiting
    case piping(UpstreamHandler)
    /// Answered before the body came; a small body is skipped so that the connection can be kept.
    case skipping
    /// Answered and closing: what still comes is dropped, so that the answer is not lost in a reset.
    case lingering
  }

  let gateway: GatewayState
  let loop: LoopState
  var context: ChannelHandlerContext?
  var phase = Phase.idle
  var exchange: Exchange?
  var parts: Deque<HTTPServerRequestPart> = []
  /// Counts exchanges, so that what was asked for one is never taken for another's answer.
  private var serial: UInt64 = 0
  private var isFeeding = false
  private var isReading = false
  var isDraining = false
  private var clientAddress = ""
  var deadline: NIODeadline = .now() + ClientHandler.headFor

  static let headFor = TimeAmount.seconds(10)
  static let idleFor = TimeAmount.seconds(75)
  private static let bodyFor = TimeAmount.seconds(60)
  static let lingerFor = TimeAmount.seconds(2)
  static let skippedBytesMax = 64 * 1024

  init(_ gateway: GatewayState, on loop: LoopState) {
    self.gateway = gateway
    self.loop = loop
  }

  // MARK: From the client

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func channelActive(context: ChannelHandlerContext) {
    clientAddress = context.remoteAddress?.ipAddress ?? "unknown"
    loop.opened(self)
    read()
  }

  func channelInactive(context: ChannelHandlerContext) {
    loop.closed(self)
    if case .piping(let upstream) = phase { upstream.close() }
    if let exchange { gateway.log(exchange, status: exchange.status ?? 499) }
    exchange = nil
    phase = .lingering
    self.context = nil
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if case .lingering = phase { return }
    parts.append(unwrapInboundIn(data))
    feed()
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    isReading = false
    if case .piping(let upstream) = phase { upstream.flush() }
    readIfWanted()
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    if context.channel.isWritable, case .piping(let upstream) = phase { upstream.read() }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard error is HTTPParserError else { return close() }
    guard let exchange else {
      self.exchange = Exchange.unread()
      return refuse(.malformedRequest)
    }
    self.exchange?.mustClose = true
    // After the end of a request, what cannot be read is the next one: this one is still answered.
    guard !exchange.requestEnded else { return }
    guard exchange.status == nil else { return close() }
    if case .piping(let upstream) = phase {
      phase = .waiting
      upstream.close()
    }
    refuse(.malformedRequest)
  }

  func feed() {
    guard !isFeeding else { return }
    isFeeding = true
    defer { isFeeding = false }
    while canTake, let part = parts.popFirst() { take(part) }
  }

  private var canTake: Bool {
    switch phase {
    case .idle, .lingering: true
    case .waiting: false
    case .piping, .skipping: exchange?.requestEnded == false
    }
  }

  private func take(_ part: HTTPServerRequestPart) {
    switch (part, phase) {
    case (.head(let head), .idle): begin(head)
    case (.body(let body), .piping(let upstream)): pass(body, to: upstream)
    case (.end, .piping(let upstream)):
      exchange?.requestEnded = true
      upstream.end()
      // An answer that has begun before the request ended goes on as long as it likes.
      if let exchange, exchange.status == nil { deadline = .now() + .seconds(exchange.route?.answerSeconds ?? 10) }
    case (.body(let body), .skipping):
      exchange?.bodyBytes += body.readableBytes
      if exchange.map({ $0.bodyBytes > Self.skippedBytesMax }) ?? true { linger() }
    case (.end, .skipping):
      exchange?.requestEnded = true
      finish()
    default: break
    }
  }

  private func pass(_ body: ByteBuffer, to upstream: UpstreamHandler) {
    exchange?.bodyBytes += body.readableBytes
    guard let bytes = exchange?.bodyBytes, bytes <= exchange?.route?.bodyBytesMax ?? 0 else {
      upstream.close()
      return exchange?.status == nil ? refuse(.tooLarge) : close()
    }
    upstream.send(body)
  }

  // MARK: One exchange

  private func begin(_ head: HTTPRequestHead) {
    let exchange = Exchange(head)
    self.exchange = exchange
    serial &+= 1
    phase = .waiting
    deadline = .now() + Self.bodyFor
    do {
      try Canonical.check(head)
    } catch {
      self.exchange?.mustClose = true
      return refuse(error)
    }
    if let local = gateway.local(head, exchange.path) { return ask(local) { [self] answer in write(answer) } }
    switch gateway.table.match(head.method, exchange.path) {
    case .notFound: refuse(.notFound)
    case .otherMethods(let allow): refuse(.methodNotAllowed(allow: allow))
    case .route(let route):
      self.exchange?.route = route
      if let length = exchange.contentLength, length > route.bodyBytesMax { return refuse(.tooLarge) }
      decide(head, route)
    }
  }

  private func decide(_ head: HTTPRequestHead, _ route: Route) {
    switch loop.bearer.verdict(on: head, for: route.bearer) {
    case .known(let assertion): forward(head, route, as: assertion)
    case .refused(let failure): refuse(failure)
    case .ask(let question):
      ask(question) { [self] answer in
        switch answer {
        case .success(let assertion): forward(head, route, as: assertion)
        case .failure(let failure): refuse(failure)
        }
      }
    }
  }

  /// Waits for something that is not of this event loop; when the client has gone in the meantime, nothing comes of it.
  private func ask<T: Sendable>(_ question: @escaping @Sendable () async -> T, then: @escaping (T) -> Void) {
    let asked = serial
    let trace = exchange?.trace
    loop.loop.makeFutureWithTask { await Trace.$current.withValue(trace) { await question() } }
      .assumeIsolated().whenSuccess { [self] answer in
        guard case .waiting = phase, serial == asked else { return }
        then(answer)
        feed()
        readIfWanted()
      }
  }

  private func forward(_ head: HTTPRequestHead, _ route: Route, as assertion: Forwarding.Assertion) {
    guard let pool = loop.pool(of: route.service), let exchange else { return refuse(.unavailable) }
    let fresh = Forwarding.request(
      head, as: assertion, key: gateway.serviceKey, trace: exchange.trace, client: clientAddress, host: pool.host)
    self.exchange?.forwarded = fresh
    if exchange.awaitsContinue { sayContinue() }
    if let kept = pool.kept() { return pipe(fresh, through: kept) }
    connect(pool, fresh)
  }

  func connect(_ pool: UpstreamPool, _ head: HTTPRequestHead) {
    let asked = serial
    pool.connect { [self] upstream in
      guard case .waiting = phase, serial == asked else { return upstream?.release() ?? () }
      guard let upstream else { return refuse(.unavailable) }
      pipe(head, through: upstream)
      feed()
      upstream.flush()
      readIfWanted()
    }
  }

  private func pipe(_ head: HTTPRequestHead, through upstream: UpstreamHandler) {
    phase = .piping(upstream)
    upstream.begin(head, for: self)
  }

  private func sayContinue() {
    exchange?.awaitsContinue = false
    let head = HTTPResponseHead(version: .http1_1, status: .continue)
    context?.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
  }

  private func read() {
    guard !isReading, let context else { return }
    isReading = true
    context.read()
  }

  /// Reads on when somebody can take what comes.
  func readIfWanted() {
    switch phase {
    case .idle, .skipping, .lingering: read()
    case .waiting: break
    case .piping(let upstream): if exchange?.requestEnded == false, upstream.isWritable { read() }
    }
  }
}
