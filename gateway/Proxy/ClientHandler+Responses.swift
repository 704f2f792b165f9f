import NIOCore
import StrictHTTP
import Web
import Wire

/// The path of responses: those of services, local ones, and the end of exchanges.
///
/// Small parts are collected in the event loop's outbound buffer, which is written before control returns to the event
/// loop.
extension ClientHandler {
  /// Larger parts are written by themselves, without a copy.
  private static let coalescedBytesMax = 16 * 1024

  // MARK: Responses of services

  func responseStarted(_ head: ResponseHead, _ bytes: ByteBuffer) {
    guard let exchange else { return }
    // Only auth may end sessions: another service, if compromised, must not be able to sign out all users.
    if exchange.route?.service == .auth, let ended = head.fields.first(.endedSessions),
      let text = bytes.getString(at: bytes.readerIndex + ended.value.start, length: ended.value.count)
    {
      gateway.recordEndedSessions(text)
    }
    let hasBody = head.framing.hasBody
    let unknownLength = head.framing == .chunked || head.framing == .untilClose
    // HTTP/1.0 has no chunked coding: there the end of the connection ends the response.
    if isDraining || !exchange.requestEnded || (unknownLength && exchange.isVersion10) { exchange.mustClose = true }
    exchange.status = head.status
    exchange.spans?.upstreamStatus = head.status
    exchange.responseFraming = unknownLength ? (exchange.isVersion10 ? .untilClose : .chunked) : head.framing
    let bodyCount = hasBody ? min(head.declaredLength ?? 0, Self.coalescedBytesMax) : 0
    loop.outbound.clear(minimumCapacity: head.byteCount + 1024 + bodyCount)
    Forwarding.writeResponse(head, bytes, to: &loop.outbound)
    if hasBody, exchange.responseFraming == .chunked {
      loop.outbound.writeStaticString("transfer-encoding: chunked\r\n")
    }
    writeGatewayHeaders(exchange) { head.fields.contains($0) }
  }

  func responseBodyReceived(_ body: ByteBuffer) {
    let isChunked = exchange?.responseFraming == .chunked
    let isSmall = body.readableBytes <= Self.coalescedBytesMax
    if isSmall || isChunked {
      // Includes the chunk framing and the last chunk.
      loop.outbound.reserveCapacity(minimumWritableBytes: (isSmall ? body.readableBytes : 0) + 32)
    }
    if isChunked { loop.outbound.writeChunkSize(body.readableBytes) }
    if isSmall {
      loop.outbound.writeImmutableBuffer(body)
    } else {
      writePending()
      context?.write(wrapOutboundOut(body), promise: nil)
    }
    if isChunked { loop.outbound.writeStaticString("\r\n") }
  }

  func responseEnded() {
    guard case .forwarding(let upstream) = phase, let exchange else { return }
    if exchange.responseFraming == .chunked { loop.outbound.writeStaticString("0\r\n\r\n") }
    writePending()
    context?.flush()
    if exchange.requestEnded {
      upstream.release()
      finish()
    } else {
      // The service responded without reading the whole body.
      upstream.close()
      closeAfterBody()
    }
  }

  /// Writes what has arrived now: a server-sent event must not wait for the next one.
  func responseReadPaused() {
    writePending()
    guard let context, case .forwarding(let upstream) = phase else { return }
    context.flush()
    renewDeadline()
    if context.channel.isWritable { upstream.read() }
  }

  /// A response that has begun has no time limit as a whole, because it may be an event stream. But neither side may
  /// pause for longer than its timeout, and the deadline of a body that is still arriving stays in force.
  func renewDeadline() {
    guard let exchange, exchange.status != nil, let route = exchange.route else { return }
    let pause = NIODeadline.now() + (isClientWritable ? .seconds(route.idleSeconds) : gateway.timeouts.write)
    deadline = exchange.requestEnded ? pause : min(pause, exchange.bodyDeadline)
  }

  func upstreamBecameWritable() { readIfWanted() }

  func upstreamClosed() {
    writePending()
    guard case .forwarding(let upstream) = phase, let exchange else { return }
    guard exchange.status == nil else { return close() }
    phase = .waiting
    if exchange.mayRetry, let route = exchange.route, retry(route, after: upstream) { return }
    self.exchange?.mustClose = exchange.mustClose || !exchange.requestEnded
    // As when no connection can be made: the client can repeat a safe request.
    refuse(exchange.isSafe ? .unavailable : .upstreamBroke)
  }

  func writePending() {
    guard loop.outbound.readableBytes > 0 else { return }
    context?.write(wrapOutboundOut(loop.outbound), promise: nil)
    // The next response allocates what it needs: the capacity of the last one would be too much for most.
    loop.outbound = ByteBuffer()
  }

  // MARK: Local responses

  func respond(to route: LocalRoute) {
    exchange?.isLocal = true
    let isInternal = isInternalCaller
    runAsync({ [gateway] in await gateway.response(to: route, isInternal: isInternal) }) { [self] response in
      if let response { write(response) } else { refuse(.notFound) }
    }
  }

  /// Whether the caller may read internal state: one with a service key, and in development also this machine. In other
  /// stages a proxy may run on this machine that forwards requests of others without saying so.
  private var isInternalCaller: Bool {
    if gateway.trustsLoopback, peer.isLoopback, !head.fields.contains(.forwardedFor),
      !head.fields.contains(.forwardedMetadata)
    {
      return true
    }
    return isMonitor
  }

  /// Whether the caller presents a service key, also as a bearer token, which Prometheus can be configured to send.
  var isMonitor: Bool {
    if hasServiceKey { return true }
    let bytes = inbound
    return loop.authenticator.hasServiceKeyAsBearer(head, bytes.readableBytesUInt8Span)
  }

  /// Whether the caller presents a service key in its own header.
  var hasServiceKey: Bool {
    let bytes = inbound
    return loop.authenticator.hasServiceKey(head, bytes.readableBytesUInt8Span)
  }

  func refuse(_ failure: Failure) {
    guard let exchange else { return close() }
    let dialect = APIDialect(path: exchange.route?.path ?? (exchange.isHeadConsumed ? "" : text(of: head.path)))
    let requestID = String(decoding: requestID, as: UTF8.self)
    write(LocalResponse(failure, as: dialect, version: exchange.goTrueVersion, requestID: requestID))
  }

  /// Responds to bytes that are not a valid request, and closes the connection.
  func refuseUnparsed(_ failure: Failure) {
    exchange = .unparsed
    loop.requestIDs.make(into: &requestID)
    phase = .waiting
    refuse(failure)
  }

  /// Responds once to a connection beyond the limits, and closes it.
  func refuseConnection(_ failure: Failure) {
    refuseUnparsed(failure)
    // There are too many connections to wait for a client that does not read even this response.
    deadline = .now() + gateway.timeouts.linger
  }

  func write(_ response: LocalResponse) {
    releaseReservation()
    guard let exchange else { return close() }
    if !exchange.isHeadConsumed { inbound.moveReaderIndex(forwardBy: head.byteCount) }
    exchange.isHeadConsumed = true
    // A client that waits for "100 Continue" may send its body or not, so the next bytes are ambiguous.
    if isDraining || !(exchange.requestEnded || canDiscardBody(of: exchange)) { exchange.mustClose = true }
    exchange.status = response.status
    loop.outbound.clear(minimumCapacity: response.body.count + 1024)
    response.writeHead(to: &loop.outbound, date: loop.dateHeader())
    writeGatewayHeaders(exchange) { $0 == .contentSecurityPolicy && response.hasContentSecurityPolicy }
    if exchange.method != .HEAD { loop.outbound.writeBytes(response.body) }
    writePending()
    context?.flush()
    if exchange.requestEnded {
      finish()
    } else if exchange.mustClose {
      closeAfterBody()
    } else {
      phase = .discardingBody
      deadline = .now() + gateway.timeouts.head
      advance()
      readIfWanted()
    }
  }

  private func canDiscardBody(of exchange: Exchange) -> Bool {
    guard case .length(let left) = exchange.remainingBody else { return false }
    return left <= Self.discardedBytesMax && !exchange.expectsContinue
  }

  /// Writes the headers that the gateway adds to every response, and the end of the head.
  ///
  /// - Parameter isPresent: whether the response has this header already.
  func writeGatewayHeaders(_ exchange: Exchange, unless isPresent: (FieldName) -> Bool) {
    loop.outbound.writeStaticString("x-request-id: ")
    loop.outbound.writeBytes(requestID)
    loop.outbound.writeStaticString("\r\n")
    gateway.securityHeaders.write(to: &loop.outbound, unless: isPresent)
    if let verdict = exchange.limitVerdict, !isPresent(.rateLimit) {
      verdict.writeHeaders(to: &loop.outbound, class: exchange.limit, isUser: exchange.caller?.user != nil)
    }
    gateway.cors?.writeHeaders(for: exchange.origin, to: &loop.outbound)
    if gateway.showsTiming { writeServerTiming(exchange) }
    if exchange.mustClose {
      loop.outbound.writeStaticString("connection: close\r\n\r\n")
    } else if exchange.isVersion10 {
      loop.outbound.writeStaticString("connection: keep-alive\r\n\r\n")
    } else {
      loop.outbound.writeStaticString("\r\n")
    }
  }

  /// W3C Server Timing: the time that the gateway took, and the time until the service began its response.
  private func writeServerTiming(_ exchange: Exchange) {
    let forwardedAt = exchange.forwardedAt ?? .now()
    loop.outbound.writeStaticString("server-timing: gateway;dur=")
    loop.outbound.writeMilliseconds(forwardedAt - exchange.startedAt)
    if let route = exchange.route, exchange.forwardedAt != nil {
      loop.outbound.writeStaticString(", ")
      loop.outbound.writeString(route.service.rawValue)
      loop.outbound.writeStaticString(";dur=")
      loop.outbound.writeMilliseconds(.now() - forwardedAt)
    }
    loop.outbound.writeStaticString("\r\n")
  }

  // MARK: End of exchanges

  func finish() {
    let mustClose = exchange?.mustClose ?? true
    endExchange(orElse: 0)
    phase = .idle
    deadline = .now() + (isClientWritable ? gateway.timeouts.idle : gateway.timeouts.write)
    // A pipelined request that has arrived is still served when the gateway stops.
    guard !mustClose, !isDraining || inbound.readableBytes > 0 else { return linger() }
    advance()
    readIfWanted()
  }

  func endExchange(orElse status: Int) {
    releaseReservation()
    guard let exchange else { return }
    self.exchange = nil
    if let address = exchange.socketAddress { gateway.socketLimits.close(from: address) }
    let duration = NIODeadline.now() - exchange.startedAt
    loop.metrics.ended(exchange.route, status: exchange.status ?? status, duration: duration)
    if let spans = exchange.spans, !exchange.isLocal {
      spans.end(exchange, isCutOff: status == Self.clientClosedRequest)
    }
    gateway.log(exchange, status: exchange.status ?? status, requestID: requestID, duration: duration)
  }

  /// Closes a connection whose client has its response and still sends its body, once that has arrived. Many clients
  /// report a broken connection, and not the response, when the connection is closed while they send.
  private func closeAfterBody() {
    // A client that waits for "100 Continue" sends no body after a refusal.
    guard let exchange, !exchange.expectsContinue || inbound.readableBytes > 0,
      exchange.responseFraming != .untilClose, !isDraining
    else { return linger() }
    let body = exchange.remainingBody
    let end = min(exchange.bodyDeadline, .now() + gateway.timeouts.refusedBody)
    guard end > .now() else { return linger() }
    endExchange(orElse: 0)
    phase = .discardingRefusedBody(body, until: end)
    deadline = min(end, .now() + gateway.timeouts.linger)
    advance()
    readIfWanted()
  }

  /// Closes the sending side first and discards what is received (a lingering close): closing a socket with unread
  /// bytes resets the connection, and the client may then lose the response.
  func linger() {
    endExchange(orElse: 0)
    phase = .lingering
    inbound = ByteBuffer()
    deadline = .now() + gateway.timeouts.write
    guard let context else { return }
    // The client's time starts when the whole response has been written.
    let sent = context.eventLoop.makePromise(of: Void.self)
    sent.futureResult.assumeIsolated().whenComplete { [self] _ in deadline = .now() + gateway.timeouts.linger }
    context.close(mode: .output, promise: sent)
    readIfWanted()
  }
}
