import NIOCore
import NIOHTTP1
import Wire

/// The way back to the client: what the service answers, what the gateway answers by itself, and how exchanges end.
extension ClientHandler {
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

  func refuse(_ failure: Failure) {
    guard let exchange else { return close() }
    write(LocalAnswer(failure, as: exchange.dialect, requestID: exchange.trace.requestID))
  }

  func write(_ answer: LocalAnswer) {
    guard let exchange else { return close() }
    // A client that waits for "100 Continue" may send its body after all or not: what follows could be either.
    let small =
      (exchange.contentLength ?? 0) <= Self.skippedBytesMax && !exchange.isChunked && !exchange.awaitsContinue
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

  func finish() {
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
  func linger() {
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
}
