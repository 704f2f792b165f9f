import NIOCore
import NIOTLS
import StrictHTTP

/// One connection to a service: carries one exchange at a time for a client's connection of the same event loop.
final class UpstreamHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  /// What the next byte belongs to.
  private enum Place {
    case head
    case length(Int)
    case chunked(ChunkedBody)
    case untilClose
  }

  let endpoint: EndpointPool
  private var context: ChannelHandlerContext?
  private var client: ClientHandler?
  private var inbound = ByteBuffer()
  private var head = ResponseHead()
  private var place = Place.head
  private var isToHead = false
  private var isReading = false
  private var mayKeep = true
  private var isBroken = false
  /// Whether it has carried an exchange before: a kept connection may be closing just now.
  private(set) var isUsed = false
  private(set) var idleSince = NIODeadline.now()
  /// Told once whether TLS was agreed on.
  var whenSecure: ((Bool) -> Void)?

  init(_ endpoint: EndpointPool) { self.endpoint = endpoint }

  var isOpen: Bool { context?.channel.isActive ?? false }
  var isWritable: Bool { context?.channel.isWritable ?? false }
  var bufferedBytes: Int { inbound.readableBytes + (context?.channel.bufferedBytes ?? 0) }

  // MARK: Called by the client's side

  /// - Parameter message: the head, and as much of the body as has come.
  func begin(_ message: ByteBuffer, isToHead: Bool, for client: ClientHandler) {
    self.client = client
    self.isToHead = isToHead
    place = .head
    context?.writeAndFlush(wrapOutboundOut(message), promise: nil)
    read()
  }

  func send(_ bytes: ByteBuffer) { context?.write(wrapOutboundOut(bytes), promise: nil) }

  func flush() { context?.flush() }

  /// Asks for more of the answer. The client's side does when it has room.
  func read() {
    guard !isReading, let context else { return }
    isReading = true
    context.read()
  }

  /// The exchange is over on both sides: the connection waits for the next one.
  func release() {
    client = nil
    isUsed = true
    idleSince = .now()
    guard mayKeep, isOpen else { return close() }
    endpoint.keep(self)
    // So that a close, or words that nobody asked for, are noticed.
    read()
  }

  /// Gives up on an exchange in the middle: nothing that follows on this connection could be told apart from its rest.
  func close() {
    client = nil
    context?.close(promise: nil)
  }

  // MARK: Channel

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    // With TLS a close takes a while, and more may come meanwhile.
    guard !isBroken else { return }
    var incoming = unwrapInboundIn(data)
    if inbound.readableBytes > 0 {
      inbound.writeBuffer(&incoming)
      incoming = inbound
      inbound = ByteBuffer()
    }
    do { try take(&incoming) } catch {
      isBroken = true
      mayKeep = false
      return context.close(promise: nil)
    }
    inbound = incoming.readableBytes > 0 ? incoming : ByteBuffer()
  }

  /// Passes on what can be passed on; what is left in `bytes` waits for more.
  private func take(_ bytes: inout ByteBuffer) throws(Refusal) {
    while bytes.readableBytes > 0 {
      // Words that nobody asked for could be taken for the next answer.
      guard let client else { throw .malformed }
      switch place {
      case .head: guard try takeHead(&bytes, client) else { return }
      case .length(let left):
        let count = min(left, bytes.readableBytes)
        if let piece = bytes.readSlice(length: count) { client.answerContinued(piece) }
        place = .length(left - count)
        if left == count { return end(bytes, client) }
      case .chunked(let chunks): if try takeChunks(&bytes, chunks, client) { return }
      case .untilClose:
        client.answerContinued(bytes)
        bytes.moveReaderIndex(to: bytes.writerIndex)
      }
    }
  }

  /// - Returns: false when the head is not all there yet.
  private func takeHead(_ bytes: inout ByteBuffer, _ client: ClientHandler) throws(Refusal) -> Bool {
    guard try head.read(bytes.readableBytesUInt8Span, isToHead: isToHead) else { return false }
    // The gateway has said "100 Continue" itself, and nothing was asked to switch protocols.
    guard head.status >= 200 else {
      guard head.status != 101 else { throw .malformed }
      bytes.moveReaderIndex(forwardBy: head.byteCount)
      return true
    }
    mayKeep = head.keepsAlive
    client.answerBegan(head, bytes)
    bytes.moveReaderIndex(forwardBy: head.byteCount)
    switch head.framing {
    case .none, .length(0): end(bytes, client)
    case .length(let length): place = .length(length)
    case .chunked: place = .chunked(ChunkedBody())
    case .untilClose:
      mayKeep = false
      place = .untilClose
    }
    return self.client != nil
  }

  /// - Returns: whether the answer has ended.
  private func takeChunks(
    _ bytes: inout ByteBuffer, _ chunks: ChunkedBody, _ client: ClientHandler
  ) throws(Refusal) -> Bool {
    var chunks = chunks
    var index = 0
    let whole = bytes
    while true {
      guard let piece = try chunks.next(whole.readableBytesUInt8Span, &index) else {
        place = .chunked(chunks)
        bytes.moveReaderIndex(to: bytes.writerIndex)
        return false
      }
      switch piece {
      case .data(let range):
        guard let data = whole.getSlice(at: whole.readerIndex + range.lowerBound, length: range.count) else { continue }
        client.answerContinued(data)
      case .ended:
        bytes.moveReaderIndex(forwardBy: index)
        end(bytes, client)
        return true
      }
    }
  }

  private func end(_ rest: ByteBuffer, _ client: ClientHandler) {
    if rest.readableBytes > 0 { mayKeep = false }
    client.answerEnded()
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    isReading = false
    if let client { client.answerPaused() } else if context.channel.isActive { read() }
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    if context.channel.isWritable { client?.upstreamHasRoom() }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .handshakeCompleted? = event as? TLSUserEvent { secured(true) }
  }

  private func secured(_ isSecure: Bool) {
    let told = whenSecure
    whenSecure = nil
    told?(isSecure)
  }

  func channelInactive(context: ChannelHandlerContext) {
    endpoint.closed(self)
    secured(false)
    guard let client else { return }
    if case .untilClose = place, !isBroken {
      client.answerEnded()
    } else {
      client.upstreamGone()
    }
    self.client = nil
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    isBroken = true
    context.close(promise: nil)
  }
}

extension Channel {
  /// What was written and the kernel has not taken yet.
  var bufferedBytes: Int {
    // `try?`: a channel that has closed holds nothing.
    (try? syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
  }
}
