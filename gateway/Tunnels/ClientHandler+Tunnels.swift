import NIOCore
import StrictHTTP
import Wire

/// WebSockets: their opening handshake, and the client's end of the tunnel.
extension ClientHandler {
  // MARK: Handshake

  func beginHandshake(_ bytes: Span<UInt8>, _ route: Route) {
    exchange?.route = route
    exchange?.limit = route.limit
    switch head.webSocketHandshake(bytes) {
    case .valid(let key):
      exchange?.webSocketAccept = WebSocketAccept.value(for: text(of: key))
      // What the client sends after a response other than 101 may be frames, and must not be read as a request.
      exchange?.mustClose = true
      authenticate(bytes, route)
    case .notThisVersion:
      if head.asksForWebSocket { exchange?.mustClose = true }
      checkLimit(.anonymous, then: .refuse(.upgradeRequired))
    case .malformed: refuseUnparsed(.malformedRequest)
    }
  }

  /// - Returns: the failure when another WebSocket would exceed a limit; nil also for other requests.
  func reserveSocket() -> Failure? {
    guard let exchange, exchange.webSocketAccept != nil else { return nil }
    let address = clientAddress(head).address
    if let excess = gateway.socketLimits.open(from: address) {
      loop.metrics.tunnels.refused(excess)
      return excess.failure
    }
    exchange.socketAddress = address
    return nil
  }

  /// Forwards the service's consent, and from now on bytes in both directions.
  ///
  /// - Returns: nil when the WebSocket is refused, because the gateway stops.
  func switchProtocols(_ response: ResponseHead, _ bytes: ByteBuffer) -> Tunnel? {
    guard case .forwarding(let upstream) = phase, let exchange, let route = exchange.route,
      let address = exchange.socketAddress, let context
    else { return nil }
    guard !isDraining else {
      phase = .waiting
      refuse(.unavailable)
      return nil
    }
    exchange.mustClose = false
    writeSwitchingProtocols(response, bytes, exchange)
    let request = TunnelRequest(
      route: route, requestID: requestID, traceID: exchange.spans?.server.context.traceID, address: address,
      startedAt: exchange.startedAt)
    let tunnel = Tunnel(request, client: self, upstream: upstream)
    phase = .tunneling(tunnel)
    loop.metrics.tunnels.opened()
    deadline = tunnel.deadline
    endHandshake(exchange, route)
    context.channel.becomeTunnelEnd()
    return tunnel
  }

  private func writeSwitchingProtocols(_ response: ResponseHead, _ bytes: ByteBuffer, _ exchange: Exchange) {
    exchange.status = response.status
    exchange.spans?.upstreamStatus = response.status
    loop.outbound.clear(minimumCapacity: response.byteCount + 1024)
    Forwarding.writeResponse(response, bytes, to: &loop.outbound)
    loop.outbound.writeStaticString("upgrade: websocket\r\nconnection: Upgrade\r\n")
    writeGatewayHeaders(exchange) { response.fields.contains($0) }
    writePending()
    flush()
  }

  /// The request counts as ended, with the duration of its handshake: a WebSocket stays open for hours, so its line in
  /// the access log comes at its end.
  private func endHandshake(_ exchange: Exchange, _ route: Route) {
    exchange.spans?.end(exchange, isCutOff: false)
    loop.metrics.ended(route, status: exchange.status ?? 101, duration: .now() - exchange.startedAt)
    self.exchange = nil
    forwarded = ByteBuffer()
    head = RequestHead()
    requestID = []
  }

  /// Forwards what the client has sent before it had the response.
  func forwardEarlyBytes(through tunnel: Tunnel) {
    let early = inbound
    inbound = ByteBuffer()
    if early.readableBytes > 0 { tunnel.receivedFromClient(early) }
    tunnel.clientReadPaused()
  }

  // MARK: The client's end

  func send(_ bytes: ByteBuffer) { context?.write(wrapOutboundOut(bytes), promise: nil) }

  func flush() { context?.flush() }

  func endOutput(isInputClosed: Bool) { context?.endOutput(isInputClosed: isInputClosed) }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .tunneling(let tunnel) = phase, case .inputClosed? = event as? ChannelEvent { tunnel.clientInputClosed() }
    context.fireUserInboundEventTriggered(event)
  }

  func tunnelEnded(_ tunnel: Tunnel, _ end: Tunnel.End, isInputClosed: Bool) {
    let duration = NIODeadline.now() - tunnel.request.startedAt
    gateway.socketLimits.close(from: tunnel.request.address)
    loop.metrics.tunnels.ended(tunnel, end, duration: duration)
    gateway.log(tunnel, end, duration: duration)
    phase = .lingering
    guard let context, context.channel.isActive else { return }
    // A client that takes nothing gets no time to take more.
    guard isClientWritable else { return close() }
    guard isInputClosed else { return linger() }
    deadline = .now() + gateway.timeouts.linger
    context.endOutput(isInputClosed: true)
  }
}
