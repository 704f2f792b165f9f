import NIOCore
import NIOTLS
import StrictHTTP

/// The channel handler of one connection to a service. It carries one exchange at a time, for a client connection of
/// the same event loop.
final class UpstreamHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  /// The part of the response that the next byte belongs to.
  private enum ReadState {
    case head
    case length(Int)
    case chunked(ChunkedBodyDecoder)
    case untilClose
    case tunnel(Tunnel)
  }

  let pool: EndpointPool
  private var context: ChannelHandlerContext?
  private var client: ClientHandler?
  private var inbound = ByteBuffer()
  private var head = ResponseHead()
  private var readState = ReadState.head
  private var isForHEAD = false
  private var isReading = false
  private var isReusable = true
  private var isBroken = false
  /// Whether it has carried an exchange before. The service may be closing such a connection.
  private(set) var isReused = false
  private(set) var idleSince = NIODeadline.now()
  /// Called once with whether the TLS handshake succeeded.
  var onTLSResult: ((Bool) -> Void)?

  init(_ pool: EndpointPool) { self.pool = pool }

  var isOpen: Bool { context?.channel.isActive ?? false }
  var isWritable: Bool { context?.channel.isWritable ?? false }
  var bufferedBytes: Int { inbound.readableBytes + (context?.channel.bufferedBytes ?? 0) }

  // MARK: Called by the client connection

  /// Sends a request.
  ///
  /// - Parameter message: the head, and the part of the body that has arrived.
  func start(_ message: ByteBuffer, isForHEAD: Bool, for client: ClientHandler) {
    self.client = client
    self.isForHEAD = isForHEAD
    readState = .head
    context?.writeAndFlush(wrapOutboundOut(message), promise: nil)
    read()
  }

  func send(_ bytes: ByteBuffer) { context?.write(wrapOutboundOut(bytes), promise: nil) }

  func flush() { context?.flush() }

  /// Reads more of the response. Called when the client connection is writable.
  func read() {
    guard !isReading, let context else { return }
    isReading = true
    context.read()
  }

  func endOutput(isInputClosed: Bool) { context?.endOutput(isInputClosed: isInputClosed) }

  /// Returns the connection to its pool. The exchange must have ended on both sides.
  func release() {
    client = nil
    isReused = true
    idleSince = .now()
    guard isReusable, isOpen else { return close() }
    pool.returnIdle(self)
    // So that a close or unsolicited bytes are noticed.
    read()
  }

  /// Abandons the exchange. The connection cannot be reused, because later bytes could belong to the abandoned
  /// response.
  func close() {
    client = nil
    context?.close(promise: nil)
  }

  // MARK: Channel

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    // With TLS a close takes a while, and more bytes may arrive meanwhile.
    guard !isBroken else { return }
    if case .tunnel(let tunnel) = readState { return tunnel.receivedFromService(unwrapInboundIn(data)) }
    var incoming = unwrapInboundIn(data)
    if inbound.readableBytes > 0 {
      inbound.writeBuffer(&incoming)
      incoming = inbound
      inbound = ByteBuffer()
    }
    do { try receive(&incoming) } catch {
      isBroken = true
      isReusable = false
      return context.close(promise: nil)
    }
    inbound = incoming.readableBytes > 0 ? incoming : ByteBuffer()
  }

  /// Forwards what can be forwarded. What is left in `bytes` is incomplete.
  private func receive(_ bytes: inout ByteBuffer) throws(HTTPParseError) {
    while bytes.readableBytes > 0 {
      // Unsolicited bytes could be taken for the next response.
      guard let client else { throw .malformed }
      switch readState {
      case .head: guard try readHead(&bytes, client) else { return }
      case .length(let left):
        let count = min(left, bytes.readableBytes)
        if let part = bytes.readSlice(length: count) { client.responseBodyReceived(part) }
        readState = .length(left - count)
        if left == count { return end(bytes, client) }
      case .chunked(let decoder): return try receiveChunks(&bytes, decoder, client)
      case .untilClose:
        client.responseBodyReceived(bytes)
        bytes.moveReaderIndex(to: bytes.writerIndex)
      case .tunnel: return
      }
    }
  }

  /// - Returns: false when the head is incomplete, or when nothing is left to be read as a response.
  private func readHead(_ bytes: inout ByteBuffer, _ client: ClientHandler) throws(HTTPParseError) -> Bool {
    guard try head.read(bytes.readableBytesUInt8Span, isForHEAD: isForHEAD) else { return false }
    // Interim responses are dropped: the gateway itself sends "100 Continue".
    guard head.status >= 200 else {
      if head.status == 101 {
        try switchProtocols(&bytes, client)
        return false
      }
      bytes.moveReaderIndex(forwardBy: head.byteCount)
      return true
    }
    isReusable = head.keepsAlive
    client.responseStarted(head, bytes)
    bytes.moveReaderIndex(forwardBy: head.byteCount)
    switch head.framing {
    case .none, .length(0): end(bytes, client)
    case .length(let length): readState = .length(length)
    case .chunked: readState = .chunked(ChunkedBodyDecoder())
    case .untilClose:
      isReusable = false
      readState = .untilClose
    }
    return self.client != nil
  }

  /// Becomes the end of a tunnel, which gets the rest of the bytes.
  private func switchProtocols(_ bytes: inout ByteBuffer, _ client: ClientHandler) throws(HTTPParseError) {
    guard let accept = client.exchange?.webSocketAccept,
      head.completesWebSocketHandshake(bytes.readableBytesUInt8Span, accept: accept)
    else { throw .malformed }
    isReusable = false
    guard let tunnel = client.switchProtocols(head, bytes) else { return close() }
    bytes.moveReaderIndex(forwardBy: head.byteCount)
    head = ResponseHead()
    readState = .tunnel(tunnel)
    self.client = nil
    pool.becameTunnel()
    context?.channel.becomeTunnelEnd()
    client.forwardEarlyBytes(through: tunnel)
    if bytes.readableBytes > 0 { tunnel.receivedFromService(bytes) }
    bytes.moveReaderIndex(to: bytes.writerIndex)
  }

  /// Consumes all bytes, or those up to the end of the response.
  private func receiveChunks(
    _ bytes: inout ByteBuffer, _ decoder: ChunkedBodyDecoder, _ client: ClientHandler
  ) throws(HTTPParseError) {
    var decoder = decoder
    var index = 0
    let received = bytes
    while true {
      guard let part = try decoder.next(received.readableBytesUInt8Span, &index) else {
        readState = .chunked(decoder)
        bytes.moveReaderIndex(to: bytes.writerIndex)
        return
      }
      switch part {
      case .data(let range):
        let start = received.readerIndex + range.lowerBound
        guard let data = received.getSlice(at: start, length: range.count) else { continue }
        client.responseBodyReceived(data)
      case .ended:
        bytes.moveReaderIndex(forwardBy: index)
        return end(bytes, client)
      }
    }
  }

  private func end(_ rest: ByteBuffer, _ client: ClientHandler) {
    if rest.readableBytes > 0 { isReusable = false }
    client.responseEnded()
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    isReading = false
    if case .tunnel(let tunnel) = readState { return tunnel.serviceReadPaused() }
    if let client { client.responseReadPaused() } else if context.channel.isActive { read() }
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    guard context.channel.isWritable else { return }
    if case .tunnel(let tunnel) = readState { return tunnel.upstreamBecameWritable() }
    client?.upstreamBecameWritable()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .handshakeCompleted? = event as? TLSUserEvent { tlsFinished(true) }
    if case .tunnel(let tunnel) = readState, case .inputClosed? = event as? ChannelEvent { tunnel.serviceInputClosed() }
  }

  private func tlsFinished(_ isSecure: Bool) {
    let completion = onTLSResult
    onTLSResult = nil
    completion?(isSecure)
  }

  func channelInactive(context: ChannelHandlerContext) {
    if case .tunnel(let tunnel) = readState {
      pool.tunnelClosed()
      tunnel.serviceClosed()
      // Each refers to the other.
      readState = .head
      return
    }
    pool.closed(self)
    tlsFinished(false)
    guard let client else { return }
    if case .untilClose = readState, !isBroken {
      client.responseEnded()
    } else {
      client.upstreamClosed()
    }
    self.client = nil
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    isBroken = true
    context.close(promise: nil)
  }
}

extension Channel {
  /// Bytes that were written and that the kernel has not accepted yet.
  var bufferedBytes: Int {
    // `try?`: a closed channel buffers nothing.
    (try? syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
  }
}
