import HummingbirdCore
import NIOCore

/// Takes connections over from the HTTP server when their first request is for a path, before that request is parsed:
/// for a protocol to which HTTP is only the handshake.
///
/// A request for the path that comes later on a connection is one for the router. A connection that is taken over keeps
/// no receive buffers (``TransientReceiveBuffers``).
package struct ConnectionTakeover: Sendable {
  fileprivate let beginning: ByteBuffer
  fileprivate let install: @Sendable (any Channel) throws -> Void

  /// - Parameters:
  ///   - path: with GET; other requests of the connection can only be for longer paths.
  ///   - install: adds handlers for the bytes of the connection at the end of its pipeline, on its event loop.
  package init(get path: String, install: @escaping @Sendable (any Channel) throws -> Void) {
    beginning = ByteBuffer(string: "GET \(path)")
    self.install = install
  }
}

/// Reads the first bytes of a connection, passes them to the handlers that they decide on, and removes itself.
final class FirstBytesHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias HTTP = EventLoopFuture<HTTP1Channel.Value>

  private let takeover: ConnectionTakeover
  private let decision: EventLoopPromise<HTTP1Channel.Value?>
  private let setUpHTTP: (any Channel) -> HTTP
  private var received = ByteBuffer()
  private var timeout: Scheduled<Void>?
  private var isDecided = false

  /// As long as HTTP connections may be idle.
  private static let timeLimit = TimeAmount.seconds(75)

  init(
    _ takeover: ConnectionTakeover, decision: EventLoopPromise<HTTP1Channel.Value?>,
    setUpHTTP: @escaping (any Channel) -> HTTP
  ) {
    self.takeover = takeover
    self.decision = decision
    self.setUpHTTP = setUpHTTP
  }

  func handlerAdded(context: ChannelHandlerContext) {
    let channel = context.channel
    timeout = context.eventLoop.scheduleTask(in: Self.timeLimit) { channel.close(promise: nil) }
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    timeout?.cancel()
    if !isDecided { decision.succeed(nil) }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    received.writeImmutableBuffer(unwrapInboundIn(data))
    let expected = takeover.beginning.readableBytesView
    let count = min(expected.count, received.readableBytes)
    let isTakenOver = received.readableBytesView.prefix(count).elementsEqual(expected.prefix(count))
    guard !isTakenOver || count == expected.count else { return }
    isDecided = true
    do {
      if isTakenOver { try takeOver(context) } else { serve(context) }
    } catch {
      decision.succeed(nil)
      context.close(promise: nil)
    }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    // Nothing has been asked for yet.
    case is ChannelShouldQuiesceEvent, ChannelEvent.inputClosed: context.close(promise: nil)
    default: context.fireUserInboundEventTriggered(event)
    }
  }

  private func takeOver(_ context: ChannelHandlerContext) throws {
    try takeover.install(context.channel)
    decision.succeed(nil)
    passOn(context)
  }

  private func serve(_ context: ChannelHandlerContext) {
    context.channel.useReusedReceiveBuffers()
    setUpHTTP(context.channel).map { $0 }.cascade(to: decision)
    passOn(context)
  }

  private func passOn(_ context: ChannelHandlerContext) {
    context.fireChannelRead(wrapInboundOut(received))
    context.fireChannelReadComplete()
    context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
  }
}
