import NIOCore
import StrictHTTP
import Wire

/// The way back to the client: what the service answers, what the gateway answers by itself, and how exchanges end.
///
/// Small pieces gather in the event loop's own buffer, which is handed over before anything else runs there.
extension ClientHandler {
  /// Larger pieces go out by themselves, uncopied.
  private static let gatheredBytesMax = 16 * 1024

  // MARK: From the service

  func answerBegan(_ head: ResponseHead, _ bytes: ByteBuffer) {
    guard var exchange else { return }
    // Sessions are auth's alone: another service, broken into, must not be able to sign everybody out.
    if exchange.route?.service == .auth, let ended = head.fields.first(.endedSessions),
      let text = bytes.getString(at: bytes.readerIndex + ended.value.start, length: ended.value.count)
    {
      gateway.sessionsEnded(text)
    }
    let hasBody = head.framing.hasBody
    let unknownLength = head.framing == .chunked || head.framing == .untilClose
    // HTTP/1.0 knows no chunks: there the end of the connection is the end of the answer.
    if isDraining || !exchange.requestEnded || (unknownLength && exchange.isVersion10) { exchange.mustClose = true }
    exchange.status = head.status
    exchange.spans?.answered = head.status
    exchange.answerFraming = unknownLength ? (exchange.isVersion10 ? .untilClose : .chunked) : head.framing
    self.exchange = exchange
    let bodyCount = hasBody ? min(head.declaredLength ?? 0, Self.gatheredBytesMax) : 0
    loop.out.clear(minimumCapacity: head.byteCount + 1024 + bodyCount)
    Forwarding.writeAnswer(head, bytes, to: &loop.out)
    if hasBody, exchange.answerFraming == .chunked { loop.out.writeStaticString("transfer-encoding: chunked\r\n") }
    writeOwnLines(exchange) { head.fields.contains($0) }
  }

  func answerContinued(_ body: ByteBuffer) {
    let isChunked = exchange?.answerFraming == .chunked
    let isSmall = body.readableBytes <= Self.gatheredBytesMax
    if isSmall || isChunked {
      // With the lines around a chunk, and the last one.
      loop.out.reserveCapacity(minimumWritableBytes: (isSmall ? body.readableBytes : 0) + 32)
    }
    if isChunked { loop.out.writeChunkSize(body.readableBytes) }
    if isSmall {
      loop.out.writeImmutableBuffer(body)
    } else {
      handOver()
      context?.write(wrapOutboundOut(body), promise: nil)
    }
    if isChunked { loop.out.writeStaticString("\r\n") }
  }

  func answerEnded() {
    guard case .piping(let upstream) = phase, let exchange else { return }
    if exchange.answerFraming == .chunked { loop.out.writeStaticString("0\r\n\r\n") }
    handOver()
    context?.flush()
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
    handOver()
    guard let context, case .piping(let upstream) = phase else { return }
    context.flush()
    renewDeadline()
    if context.channel.isWritable { upstream.read() }
  }

  /// An answer that has begun may take as long as it likes in all, for it may be a stream of events; but neither side may
  /// be silent for ever, and a body that is still to come keeps its own time.
  func renewDeadline() {
    guard let exchange, exchange.status != nil, let route = exchange.route else { return }
    let pause = NIODeadline.now() + (hasRoom ? .seconds(route.silenceSeconds) : gateway.patience.stall)
    deadline = exchange.requestEnded ? pause : min(pause, exchange.bodyDeadline)
  }

  func upstreamHasRoom() { readIfWanted() }

  func upstreamGone() {
    handOver()
    guard case .piping(let upstream) = phase, let exchange else { return }
    guard exchange.status == nil else { return close() }
    phase = .waiting
    if exchange.mayRepeat, let route = exchange.route, again(route, after: upstream) { return }
    self.exchange?.mustClose = exchange.mustClose || !exchange.requestEnded
    refuse(.upstreamBroke)
  }

  private func handOver() {
    guard loop.out.readableBytes > 0 else { return }
    context?.write(wrapOutboundOut(loop.out), promise: nil)
    // Whoever writes next takes what it needs: as much as the last answer took would be too much for most.
    loop.out = ByteBuffer()
  }

  // MARK: Answers of the gateway's own

  func answer(_ own: OwnRoute) {
    exchange?.isOwn = true
    let isInsider = isInsider
    ask({ [gateway] in await gateway.answer(own, toInsider: isInsider) }) { [self] answer in
      if let answer { write(answer) } else { refuse(.notFound) }
    }
  }

  /// Whether the caller may see how things are inside: a service, and while it is being developed this machine itself.
  /// Elsewhere a proxy may run beside the gateway, which speaks for others and need not say so.
  private var isInsider: Bool {
    if gateway.trustsThisMachine, peer.isLoopback, !head.fields.contains(.forwardedFor),
      !head.fields.contains(.forwarding)
    {
      return true
    }
    return isMonitor
  }

  /// Whether the caller shows the key of a service, also as Prometheus can be told to.
  var isMonitor: Bool { isService || bearer.map { loop.bearer.isService($0) } ?? false }

  /// Whether the caller shows the key of a service.
  var isService: Bool { head.fields.first(.serviceKey).map { loop.bearer.isService(text(of: $0.value)) } ?? false }

  /// RFC 6750 §2.1.
  private var bearer: String? {
    guard let value = head.fields.first(.authorization).map({ text(of: $0.value) }) else { return nil }
    let scheme = "bearer "
    return value.lowercased().hasPrefix(scheme) ? String(value.dropFirst(scheme.count)) : nil
  }

  func refuse(_ failure: Failure) {
    guard let exchange else { return close() }
    let dialect = Dialect(path: exchange.route?.path ?? (exchange.isHeadTaken ? "" : text(of: head.path)))
    let requestID = String(decoding: requestID, as: UTF8.self)
    write(LocalAnswer(failure, as: dialect, version: exchange.goTrueVersion, requestID: requestID))
  }

  /// For what is no request that could be answered: the connection ends here.
  func refuseUnread(_ failure: Failure) {
    exchange = .unread
    loop.ids.make(into: &requestID)
    phase = .waiting
    refuse(failure)
  }

  /// More connections than are served: one answer, and the end.
  func refuseConnection(_ failure: Failure) {
    refuseUnread(failure)
    // There are too many already to wait for one that does not even take a few words.
    deadline = .now() + gateway.patience.linger
  }

  func write(_ answer: LocalAnswer) {
    releaseHold()
    guard var exchange else { return close() }
    if !exchange.isHeadTaken { inbound.moveReaderIndex(forwardBy: head.byteCount) }
    exchange.isHeadTaken = true
    // A client that waits for "100 Continue" may send its body after all or not: what follows could be either.
    if isDraining || !(exchange.requestEnded || isSmall(exchange)) { exchange.mustClose = true }
    exchange.status = answer.status
    self.exchange = exchange
    loop.out.clear(minimumCapacity: answer.body.count + 1024)
    answer.writeHead(to: &loop.out, date: loop.date())
    writeOwnLines(exchange) { $0 == .contentSecurityPolicy && answer.hasPolicy }
    if exchange.method != .HEAD { loop.out.writeBytes(answer.body) }
    handOver()
    context?.flush()
    if exchange.requestEnded {
      finish()
    } else if exchange.mustClose {
      linger()
    } else {
      phase = .skipping
      deadline = .now() + gateway.patience.head
      advance()
      readIfWanted()
    }
  }

  private func isSmall(_ exchange: Exchange) -> Bool {
    guard case .length(let left) = exchange.body else { return false }
    return left <= Self.skippedBytesMax && !exchange.awaitsContinue
  }

  /// What the gateway says in every answer; ends the head.
  ///
  /// - Parameter said: what the answer says by itself.
  private func writeOwnLines(_ exchange: Exchange, besides said: (FieldName) -> Bool) {
    loop.out.writeStaticString("x-request-id: ")
    loop.out.writeBytes(requestID)
    loop.out.writeStaticString("\r\n")
    gateway.security.write(to: &loop.out, besides: said)
    if let limited = exchange.limited, !said(.rateLimit) {
      limited.writeLines(to: &loop.out, class: exchange.limit, isUser: exchange.caller?.user != nil)
    }
    gateway.cors?.writeLines(for: exchange.origin, to: &loop.out)
    if gateway.showsTiming { writeTiming(exchange) }
    if exchange.mustClose {
      loop.out.writeStaticString("connection: close\r\n\r\n")
    } else if exchange.isVersion10 {
      loop.out.writeStaticString("connection: keep-alive\r\n\r\n")
    } else {
      loop.out.writeStaticString("\r\n")
    }
  }

  /// W3C Server Timing: how long the service took to begin its answer, and how long the gateway took before.
  private func writeTiming(_ exchange: Exchange) {
    let forwardedAt = exchange.forwardedAt ?? .now()
    loop.out.writeStaticString("server-timing: gateway;dur=")
    loop.out.writeMilliseconds(forwardedAt - exchange.startedAt)
    if let route = exchange.route, exchange.forwardedAt != nil {
      loop.out.writeStaticString(", ")
      loop.out.writeString(route.service.rawValue)
      loop.out.writeStaticString(";dur=")
      loop.out.writeMilliseconds(.now() - forwardedAt)
    }
    loop.out.writeStaticString("\r\n")
  }

  // MARK: Ends

  func finish() {
    let mustClose = exchange?.mustClose ?? true
    exchangeEnded(orElse: 0)
    phase = .idle
    deadline = .now() + (hasRoom ? gateway.patience.idle : gateway.patience.stall)
    // A request that has been sent ahead is still served when the gateway stops.
    guard !mustClose, !isDraining || inbound.readableBytes > 0 else { return linger() }
    advance()
    readIfWanted()
  }

  func exchangeEnded(orElse status: Int) {
    releaseHold()
    guard let exchange else { return }
    self.exchange = nil
    let took = NIODeadline.now() - exchange.startedAt
    loop.metrics.ended(exchange.route, status: exchange.status ?? status, took: took)
    if let spans = exchange.spans, !exchange.isOwn { spans.end(exchange, isCutOff: status == Self.gone) }
    gateway.log(exchange, status: exchange.status ?? status, requestID: requestID, took: took)
  }

  /// Closes our side first and drops what still comes: closing with unread bytes would reset the connection, and a reset
  /// can overtake the answer.
  func linger() {
    exchangeEnded(orElse: 0)
    phase = .lingering
    inbound = ByteBuffer()
    deadline = .now() + gateway.patience.stall
    guard let context else { return }
    // The client's time begins when the last of the answer is out, not before.
    let sent = context.eventLoop.makePromise(of: Void.self)
    sent.futureResult.assumeIsolated().whenComplete { [self] _ in deadline = .now() + gateway.patience.linger }
    context.close(mode: .output, promise: sent)
    readIfWanted()
  }
}
