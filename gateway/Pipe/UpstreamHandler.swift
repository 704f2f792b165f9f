import NIOCore
import NIOHTTP1

/// One connection to a service: carries one exchange at a time for a client's connection of the same event loop.
final class UpstreamHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPClientResponsePart
  typealias OutboundOut = HTTPClientRequestPart

  private let pool: UpstreamPool
  private var context: ChannelHandlerContext?
  private weak var client: ClientHandler?
  private var isReading = false
  private var mayKeep = true
  /// Whether it has carried an exchange before: a kept connection may be closing just now.
  private(set) var isUsed = false
  private(set) var idleSince = NIODeadline.now()

  init(pool: UpstreamPool) { self.pool = pool }

  var isOpen: Bool { context?.channel.isActive ?? false }
  var isWritable: Bool { context?.channel.isWritable ?? false }

  // MARK: Called by the client's side

  func begin(_ head: HTTPRequestHead, for client: ClientHandler) {
    self.client = client
    mayKeep = true
    context?.write(wrapOutboundOut(.head(head)), promise: nil)
    read()
  }

  func send(_ body: ByteBuffer) { context?.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil) }

  func end() {
    context?.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
  }

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
    pool.keep(self)
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
    guard let client else { return context.close(promise: nil) }
    switch unwrapInboundIn(data) {
    case .head(let head):
      mayKeep = mayKeep && head.isKeepAlive
      client.answerBegan(head)
    case .body(let body): client.answerContinued(body)
    case .end: client.answerEnded()
    }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    isReading = false
    if let client { client.answerPaused() } else if context.channel.isActive { read() }
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    if context.channel.isWritable { client?.upstreamHasRoom() }
    context.fireChannelWritabilityChanged()
  }

  func channelInactive(context: ChannelHandlerContext) {
    pool.closed(self)
    let client = client
    self.client = nil
    client?.upstreamGone()
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
