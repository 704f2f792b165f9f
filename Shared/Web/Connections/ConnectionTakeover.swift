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

  private let takeover: ConnectionTakeover
  private let connection: HTTPConnection
  private let decided: (_ isServed: Bool) -> Void
  private var received = ByteBuffer()
  private var timeout: Scheduled<Void>?
  private var isServed = false
  /// The handlers that are added later have not been told.
  private var isQuiescing = false

  /// - Parameters:
  ///   - connection: serves the connections that are not taken over.
  ///   - decided: called once with whether it serves this one.
  init(_ takeover: ConnectionTakeover, else connection: HTTPConnection, decided: @escaping (_ isServed: Bool) -> Void) {
    self.takeover = takeover
    self.connection = connection
    self.decided = decided
  }

  func handlerAdded(context: ChannelHandlerContext) { closeAfter(connection.service.timeouts.idle, context) }

  private func closeAfter(_ time: TimeAmount, _ context: ChannelHandlerContext) {
    timeout?.cancel()
    let channel = context.channel
    timeout = context.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    timeout?.cancel()
    decided(isServed)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    received.writeImmutableBuffer(unwrapInboundIn(data))
    let expected = takeover.beginning.readableBytesView
    let count = min(expected.count, received.readableBytes)
    let isTakenOver = received.readableBytesView.prefix(count).elementsEqual(expected.prefix(count))
    guard !isTakenOver || count == expected.count else { return }
    do {
      if isTakenOver { try takeover.install(context.channel) } else { try serve(context) }
      passOn(context)
    } catch { context.close(promise: nil) }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case is ChannelShouldQuiesceEvent:
      isQuiescing = true
      closeAfter(connection.service.timeouts.firstRequest, context)
    // Nothing has been asked for yet.
    case ChannelEvent.inputClosed: context.close(promise: nil)
    default: context.fireUserInboundEventTriggered(event)
    }
  }

  private func serve(_ context: ChannelHandlerContext) throws {
    context.channel.useReusedReceiveBuffers()
    try context.pipeline.syncOperations.addHandler(connection)
    isServed = true
  }

  private func passOn(_ context: ChannelHandlerContext) {
    if isQuiescing { context.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent()) }
    context.fireChannelRead(wrapInboundOut(received))
    context.fireChannelReadComplete()
    context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
  }
}
