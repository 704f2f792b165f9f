import NIOCore
import StrictHTTP
import Wire

/// The channel handler of one client connection: reads requests one after the other, authenticates the caller, and
/// forwards each request to its service and the response back. Small bodies are buffered first. Larger ones are
/// streamed with backpressure: each side is read only while the other is writable.
///
/// This file has the connection, `+Requests` the path of requests, `+BodyBuffering` small bodies, `+Bodies` large ones,
/// `+Responses` the path of responses, `+Tunnels` WebSockets.
final class ClientHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  /// The phase of the current exchange.
  enum Phase {
    /// Between requests.
    case idle
    /// Waiting for authentication, a rate limit, a local response or a connection. The head and the received part of
    /// the body are in `inbound`.
    case waiting
    /// Receiving the rest of a small body into `inbound`, behind its head.
    case buffering
    case forwarding(UpstreamHandler)
    /// The connection is a WebSocket.
    case tunneling(Tunnel)
    /// Responded before the body arrived. A small body is discarded so that the connection can be kept.
    case discardingBody
    /// Responded before the body arrived. The connection is closed when all of it has been discarded, when the client
    /// pauses, or at `until`.
    case discardingRefusedBody(RemainingBody, until: NIODeadline)
    /// Responded and closing: received bytes are discarded, so that the response is not lost in a reset.
    case lingering
  }

  let gateway: GatewayState
  let loop: EventLoopState
  var context: ChannelHandlerContext?
  var phase = Phase.idle
  var exchange: Exchange?
  /// Received bytes that have not been forwarded. Starts with the head of the current request until that is forwarded.
  var inbound = ByteBuffer()
  var head = RequestHead()
  /// How many bytes of an incomplete head have been searched for a line end.
  var scannedBytes = 0
  /// The request as it was sent to the service, for a retry.
  var forwarded = ByteBuffer()
  var requestID: [UInt8] = []
  /// Incremented for each exchange, so that the result of an asynchronous call is never used for a later exchange.
  var exchangeNumber: UInt64 = 0
  var isDraining = false
  var peer = IPAddress.unspecified
  private var peerText: [UInt8] = []
  var deadline: NIODeadline
  private var isAdvancing = false
  private var isReading = false

  static let discardedBytesMax = 64 * 1024
  /// Logged and counted for a request whose client closed the connection before the response (as in nginx).
  static let clientClosedRequest = 499
  /// Reading stops when `inbound` has this many bytes.
  private static let bufferedBytesMax = 64 * 1024

  init(_ gateway: GatewayState, on loop: EventLoopState) {
    self.gateway = gateway
    self.loop = loop
    deadline = .now() + gateway.timeouts.head
  }

  // MARK: Channel

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func channelActive(context: ChannelHandlerContext) {
    peer = IPAddress(context.remoteAddress) ?? .unspecified
    peerText = Array(peer.description.utf8)
    loop.opened(self)
    if let failure = gateway.connectionLimits.opened(from: peer) { refuseConnection(failure) }
    read()
  }

  func channelInactive(context: ChannelHandlerContext) {
    loop.closed(self)
    gateway.connectionLimits.closed(from: peer)
    if case .forwarding(let upstream) = phase { upstream.close() }
    if case .tunneling(let tunnel) = phase { tunnel.clientClosed() }
    endExchange(orElse: Self.clientClosedRequest)
    phase = .lingering
    self.context = nil
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if case .lingering = phase { return }
    if case .tunneling(let tunnel) = phase { return tunnel.receivedFromClient(unwrapInboundIn(data)) }
    if inbound.readableBytes == 0 {
      inbound = unwrapInboundIn(data)
    } else {
      var incoming = unwrapInboundIn(data)
      inbound.writeBuffer(&incoming)
    }
    advance()
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    isReading = false
    readIfWanted()
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    guard context.channel.isWritable else { return }
    switch phase {
    case .idle:
      deadline = .now() + gateway.timeouts.idle
      advance()
      readIfWanted()
    case .forwarding(let upstream):
      renewDeadline()
      upstream.read()
    case .tunneling(let tunnel): tunnel.clientBecameWritable()
    case .waiting, .buffering, .discardingBody, .discardingRefusedBody, .lingering: break
    }
  }

  /// The client reset the connection, or TLS failed.
  func errorCaught(context: ChannelHandlerContext, error: any Error) { close() }

  // MARK: Reading

  /// Processes as much of `inbound` as is possible in the current phase.
  func advance() {
    guard !isAdvancing else { return }
    isAdvancing = true
    while inbound.readableBytes > 0 {
      switch phase {
      // A client that does not read its responses gets no more requests processed: responses would accumulate here.
      case .idle: guard isClientWritable, readHead() else { return finishAdvancing() }
      case .waiting, .tunneling: return finishAdvancing()
      case .buffering: guard bufferBody() else { return finishAdvancing() }
      case .forwarding(let upstream): guard forwardBody(to: upstream) else { return finishAdvancing() }
      case .discardingBody: guard discardBody() else { return finishAdvancing() }
      case .discardingRefusedBody(let body, let end): discardRefusedBody(body, until: end)
      case .lingering: inbound = ByteBuffer()
      }
    }
    finishAdvancing()
  }

  private func finishAdvancing() {
    isAdvancing = false
    // Releases the buffer, so that the channel can reuse it.
    if inbound.readableBytes == 0 { inbound = ByteBuffer() }
  }

  /// Reads more unless enough is buffered. The socket is read also while a request is in flight: its registration with
  /// the selector does not change, and a closed connection is noticed.
  func readIfWanted() {
    switch phase {
    case .idle: if isClientWritable { read() }
    case .buffering, .discardingBody, .discardingRefusedBody, .lingering: read()
    case .waiting: if inbound.readableBytes < Self.bufferedBytesMax { read() }
    case .forwarding(let upstream):
      // Unflushed bytes count as pending: without a flush the upstream might never become writable again.
      if exchange?.requestEnded == false { upstream.flush() }
      let canForward = exchange?.requestEnded == true || upstream.isWritable
      if canForward, inbound.readableBytes < Self.bufferedBytesMax { read() }
    case .tunneling(let tunnel): tunnel.clientReadPaused()
    }
  }

  /// Whether the client reads what it is sent.
  var isClientWritable: Bool { context?.channel.isWritable ?? false }

  func read() {
    guard !isReading, let context else { return }
    isReading = true
    context.read()
  }

  /// Bytes that are buffered on either side because a peer does not read them yet.
  var bufferedBytes: Int {
    let outboundBytes = context?.channel.bufferedBytes ?? 0
    switch phase {
    case .forwarding(let upstream): return inbound.readableBytes + outboundBytes + upstream.bufferedBytes
    case .tunneling(let tunnel): return outboundBytes + tunnel.bufferedBytes
    default: return inbound.readableBytes + outboundBytes
    }
  }

  // MARK: Closing

  func close() { context?.close(promise: nil) }

  func drain() {
    isDraining = true
    // Before its first request, which is probably on its way, it has a second; between two requests, the last response
    // may still be in flight.
    if case .idle = phase, inbound.readableBytes == 0 {
      if exchangeNumber == 0 { deadline = min(deadline, .now() + .seconds(1)) } else { linger() }
    }
    if case .discardingRefusedBody = phase { linger() }
    if case .tunneling(let tunnel) = phase { tunnel.restart(within: gateway.tunnelDrain) }
  }

  /// Closes a connection between two requests. The last response may still be in flight.
  private func closeIdle() {
    if exchangeNumber == 0 { close() } else { linger() }
  }

  /// Releases memory that an idle connection does not need. Called periodically.
  func trim() {
    guard case .idle = phase, inbound.readableBytes == 0 else { return }
    forwarded = ByteBuffer()
    head = RequestHead()
    requestID = []
  }

  func deadlinePassed() {
    switch phase {
    case .idle where !isClientWritable: close()
    case .idle where inbound.readableBytes > 0: refuseUnparsed(.timeout)
    case .idle: closeIdle()
    case .lingering, .discardingBody: close()
    case .discardingRefusedBody: linger()
    case .waiting: refuse(.gatewayTimeout)
    case .tunneling(let tunnel): tunnel.deadlinePassed()
    case .buffering:
      exchange?.mustClose = true
      refuse(.timeout)
    case .forwarding(let upstream):
      guard let exchange, exchange.status == nil else { return close() }
      phase = .waiting
      upstream.close()
      self.exchange?.mustClose = true
      refuse(exchange.requestEnded ? .gatewayTimeout : .timeout)
    }
  }

  /// The client address of the current request: the peer, or the address that trusted proxies report.
  func clientAddress(_ head: RequestHead) -> (address: IPAddress, text: [UInt8]) {
    guard gateway.trustedProxies.contains(peer), head.fields.contains(.forwardedFor) else { return (peer, peerText) }
    let values = head.fields.list.filter { $0.name == .forwardedFor }.map { text(of: $0.value) }
    let client = gateway.trustedProxies.client(peer: peer, forwardedFor: values)
    return (client, Array(client.description.utf8))
  }

  /// Bytes of the current head as text.
  func text(of slice: HeadSlice) -> String {
    inbound.getString(at: inbound.readerIndex + slice.start, length: slice.count) ?? ""
  }
}
