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
  private enum Phase {
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

  private let gateway: GatewayState
  private let loop: LoopState
  private var context: ChannelHandlerContext?
  private var phase = Phase.idle
  private var exchange: Exchange?
  private var parts: Deque<HTTPServerRequestPart> = []
  private var isFeeding = false
  private var isReading = false
  private var isDraining = false
  private var clientAddress = ""
  private(set) var deadline: NIODeadline = .now() + ClientHandler.headFor

  private static let headFor = TimeAmount.seconds(10)
  private static let idleFor = TimeAmount.seconds(75)
  private static let bodyFor = TimeAmount.seconds(60)
  private static let lingerFor = TimeAmount.seconds(2)
  private static let skippedBytesMax = 64 * 1024

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

  private func feed() {
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
      deadline = .now() + .seconds(exchange?.route?.answerSeconds ?? 10)
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
    guard let exchange, exchange.bodyBytes <= exchange.route?.bodyBytesMax ?? 0 else {
      upstream.close()
      return refuse(.tooLarge)
    }
    upstream.send(body)
  }

  // MARK: One exchange

  private func begin(_ head: HTTPRequestHead) {
    let exchange = Exchange(head)
    self.exchange = exchange
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
    let id = exchange?.trace.requestID
    let trace = exchange?.trace
    loop.loop.makeFutureWithTask { await Trace.$current.withValue(trace) { await question() } }
      .assumeIsolated().whenSuccess { [self] answer in
        guard case .waiting = phase, exchange?.trace.requestID == id else { return }
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
    if head.headers.first(name: "expect")?.lowercased() == "100-continue" { sayContinue() }
    if let kept = pool.kept() { return pipe(fresh, through: kept) }
    connect(pool, fresh)
  }

  private func connect(_ pool: UpstreamPool, _ head: HTTPRequestHead) {
    let id = exchange?.trace.requestID
    pool.connect { [self] upstream in
      guard case .waiting = phase, exchange?.trace.requestID == id else { return upstream?.release() ?? () }
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
    let head = HTTPResponseHead(version: .http1_1, status: .continue)
    context?.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
  }

  // MARK: From the service

  func answerBegan(_ head: HTTPResponseHead) {
    guard let exchange else { return }
    if let ended = head.headers.first(name: Header.endedSessions) { gateway.sessionsEnded(ended) }
    let closing =
      exchange.mustClose || isDraining || !exchange.requestEnded
      || Forwarding.needsClose(head, version: exchange.version)
    self.exchange?.mustClose = closing
    self.exchange?.status = Int(head.status.code)
    // An answer that has begun may take as long as it likes: it may be a stream of events.
    deadline = .distantFuture
    let answer = Forwarding.response(
      head, toHead: exchange.isHead, version: exchange.version, requestID: exchange.trace.requestID, closing: closing)
    context?.write(wrapOutboundOut(.head(answer)), promise: nil)
  }

  func answerContinued(_ body: ByteBuffer) {
    context?.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
  }

  func answerEnded() {
    guard case .piping(let upstream) = phase, let exchange else { return }
    context?.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    if exchange.requestEnded {
      upstream.release()
      finish()
    } else {
      // It answered without having wanted the whole body.
      upstream.close()
      linger()
    }
  }

  /// What has arrived goes out now: an event must not wait for the next one.
  func answerPaused() {
    context?.flush()
    if case .piping(let upstream) = phase, context?.channel.isWritable == true { upstream.read() }
  }

  func upstreamHasRoom() { readIfWanted() }

  func upstreamGone() {
    guard case .piping(let upstream) = phase, let exchange else { return }
    phase = .waiting
    guard exchange.status == nil else { return close() }
    if exchange.mayRepeat, upstream.isUsed, let route = exchange.route, let head = exchange.forwarded,
      let pool = loop.pool(of: route.service)
    {
      self.exchange?.isRepeated = true
      self.exchange?.requestEnded = false
      parts.prepend(.end(nil))
      return connect(pool, head)
    }
    refuse(.upstreamBroke)
  }

  // MARK: Answers of the gateway's own

  private func refuse(_ failure: Failure) {
    guard let exchange else { return close() }
    write(LocalAnswer(failure, as: exchange.dialect, requestID: exchange.trace.requestID))
  }

  private func write(_ answer: LocalAnswer) {
    guard let exchange else { return close() }
    let small = (exchange.contentLength ?? 0) <= Self.skippedBytesMax && !exchange.isChunked
    let closing = exchange.mustClose || isDraining || !(exchange.requestEnded || small)
    self.exchange?.mustClose = closing
    self.exchange?.status = Int(answer.status.code)
    var headers = answer.headers
    headers.add(name: "content-length", value: String(answer.body.readableBytes))
    headers.add(name: Header.requestID, value: exchange.trace.requestID)
    if closing { headers.add(name: "connection", value: "close") }
    let head = HTTPResponseHead(version: .http1_1, status: answer.status, headers: headers)
    context?.write(wrapOutboundOut(.head(head)), promise: nil)
    if !exchange.isHead { context?.write(wrapOutboundOut(.body(.byteBuffer(answer.body))), promise: nil) }
    context?.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    if exchange.requestEnded {
      finish()
    } else if closing {
      linger()
    } else {
      phase = .skipping
      deadline = .now() + Self.headFor
      feed()
      readIfWanted()
    }
  }

  // MARK: Ends

  private func finish() {
    if let exchange { gateway.log(exchange, status: exchange.status ?? 0) }
    let mustClose = exchange?.mustClose ?? true
    exchange = nil
    phase = .idle
    deadline = .now() + Self.idleFor
    guard !mustClose else { return linger() }
    feed()
    readIfWanted()
  }

  /// Closes our side first and drops what still comes: closing with unread bytes would reset the connection, and a reset
  /// can overtake the answer.
  private func linger() {
    if let exchange { gateway.log(exchange, status: exchange.status ?? 0) }
    exchange = nil
    phase = .lingering
    parts.removeAll()
    deadline = .now() + Self.lingerFor
    context?.close(mode: .output, promise: nil)
    readIfWanted()
  }

  func close() { context?.close(promise: nil) }

  func drain() {
    isDraining = true
    if case .idle = phase, parts.isEmpty { close() }
  }

  func deadlinePassed() {
    switch phase {
    case .idle, .lingering, .skipping: close()
    case .waiting: refuse(.gatewayTimeout)
    case .piping(let upstream):
      guard let exchange, exchange.status == nil else { return close() }
      phase = .waiting
      upstream.close()
      self.exchange?.mustClose = true
      refuse(exchange.requestEnded ? .gatewayTimeout : .timeout)
    }
  }

  private func read() {
    guard !isReading, let context else { return }
    isReading = true
    context.read()
  }

  /// Reads on when somebody can take what comes.
  private func readIfWanted() {
    switch phase {
    case .idle, .skipping, .lingering: read()
    case .waiting: break
    case .piping(let upstream): if exchange?.requestEnded == false, upstream.isWritable { read() }
    }
  }
}
