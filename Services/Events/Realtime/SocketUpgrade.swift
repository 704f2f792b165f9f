import NIOCore
import NIOHTTP1
import NIOWebSocket
import Web
import Wire

/// Turns a request for `/realtime/v1/websocket` into a ``Socket``, or refuses it.
struct SocketUpgrade: Sendable {
  static let path = "/realtime/v1/websocket"

  let services: SocketServices
  let keys: ServiceKeys

  var takeover: ConnectionTakeover { ConnectionTakeover(get: Self.path, install: install) }

  @Sendable func install(on channel: any Channel) throws {
    let handshake = PendingHandshake()
    let upgrader = NIOWebSocketServerUpgrader(
      maxFrameSize: SocketSettings.frameBytesMax,
      shouldUpgrade: { channel, head in
        let isAccepted = accept(head, on: channel, handshake)
        return channel.eventLoop.makeSucceededFuture(isAccepted ? HTTPHeaders() : nil)
      },
      upgradePipelineHandler: { channel, _ in
        channel.eventLoop.makeCompletedFuture { try open(handshake, on: channel) }
      })
    let refusal = NIOLoopBound(RefusedHandshakeHandler(handshake, services.metrics), eventLoop: channel.eventLoop)
    var limits = NIOHTTPDecoderLimitConfiguration()
    limits.maxHeaderFieldSize = 16 * 1024
    limits.maxHeaderListSize = 24 * 1024
    limits.maxHeaderFieldCount = 96
    try channel.pipeline.syncOperations.configureHTTPServerPipeline(
      withPipeliningAssistance: false,
      withServerUpgrade: (
        upgraders: [upgrader],
        completionHandler: { context in
          context.pipeline.syncOperations.removeHandler(refusal.value, promise: nil)
        }
      ), withErrorHandling: true, withEncoderConfiguration: .init(), withDecoderLimitConfiguration: limits)
    try channel.pipeline.syncOperations.addHandler(refusal.value)
  }

  private func accept(_ head: HTTPRequestHead, on channel: any Channel, _ pending: PendingHandshake) -> Bool {
    do throws(HandshakeRefusal) {
      let handshake = try Handshake(head, from: channel.remoteAddress?.ipAddress ?? "", trusting: keys)
      guard !pending.isStopping else { throw .stopping }
      guard services.limits.open(from: handshake.address) else { throw .tooMany }
      pending.accepted = handshake
      // A client may close before the socket is there.
      channel.closeFuture.whenComplete { _ in
        if let unused = pending.take() { services.limits.close(from: unused.address) }
      }
      return true
    } catch {
      pending.refusal = error
      return false
    }
  }

  private func open(_ pending: PendingHandshake, on channel: any Channel) throws {
    guard let handshake = pending.take() else { throw ChannelError.ioOnClosedChannel }
    let options = channel.syncOptions
    try options?.setOption(.writeBufferWaterMark, value: .init(low: 32 * 1024, high: 128 * 1024))
    if channel.localAddress?.ipAddress != nil { try options?.setOption(.socketOption(.tcp_nodelay), value: 1) }
    try channel.pipeline.syncOperations.addHandlers([
      NIOWebSocketFrameAggregator(
        minNonFinalFragmentSize: 0, maxAccumulatedFrameCount: 64,
        maxAccumulatedFrameSize: SocketSettings.frameBytesMax),
      Socket(services, handshake, on: channel),
    ])
  }
}

/// What has been decided about the request of a connection.
///
/// `@unchecked Sendable`: NIO's upgrader takes closures that are `@Sendable`, and calls them on the event loop of the
/// connection, where alone this is used.
private final class PendingHandshake: @unchecked Sendable {
  var accepted: Handshake?
  var refusal: HandshakeRefusal?
  var isStopping = false

  func take() -> Handshake? {
    defer { accepted = nil }
    return accepted
  }
}

/// Answers a request that gets no socket, and closes the connection, also when no whole request arrives in time.
private final class RefusedHandshakeHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private let handshake: PendingHandshake
  private let metrics: EventMetrics
  private var timeout: Scheduled<Void>?
  private static let timeLimit = TimeAmount.seconds(10)

  init(_ handshake: PendingHandshake, _ metrics: EventMetrics) {
    self.handshake = handshake
    self.metrics = metrics
  }

  func handlerAdded(context: ChannelHandlerContext) {
    let channel = context.channel
    timeout = context.eventLoop.scheduleTask(in: Self.timeLimit) { channel.close(promise: nil) }
  }

  func handlerRemoved(context: ChannelHandlerContext) { timeout?.cancel() }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case is ChannelShouldQuiesceEvent: handshake.isStopping = true
    case ChannelEvent.inputClosed: context.close(promise: nil)
    default: context.fireUserInboundEventTriggered(event)
    }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard case .head(let head) = unwrapInboundIn(data) else { return }
    let refusal = handshake.refusal ?? .noUpgrade
    metrics.refused(refusal.metric)
    let body = ByteBuffer(string: refusal.body)
    var response = HTTPResponseHead(version: head.version, status: refusal.status)
    response.headers = [
      "content-type": "application/json", "content-length": String(body.readableBytes), "connection": "close",
    ]
    if refusal.status == .upgradeRequired { response.headers.add(name: "upgrade", value: "websocket") }
    context.write(wrapOutboundOut(.head(response)), promise: nil)
    context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
    let channel = context.channel
    context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in channel.close(promise: nil) }
  }
}
