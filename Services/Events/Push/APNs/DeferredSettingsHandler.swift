import NIOCore
import NIOHTTP2

/// Passes on the `SETTINGS` of an HTTP/2 connection that has no open stream when its next stream opens.
///
/// APNs allows one stream at first, and more after the first notification (RFC 9113 §6.5.2), thus often when that has
/// its answer and the connection is idle. AsyncHTTPClient 1.37 then starts the idle timer a second time, which its
/// `HTTPConnectionPool` asserts to never happen: a debug build ends there. Nothing is lost by waiting, as only
/// a further stream needs to know how many there may be, and `NIOHTTP2Handler`, before this one, knows at once.
final class DeferredSettingsHandler: ChannelInboundHandler {
  typealias InboundIn = HTTP2Frame
  typealias InboundOut = HTTP2Frame

  private var openStreamCount = 0
  private var deferred: [HTTP2Frame] = []

  /// - Parameter connection: one whose first `SETTINGS` were read just now, on whose event loop this is called.
  static func add(to connection: any Channel) -> EventLoopFuture<Void> {
    connection.eventLoop.makeCompletedFuture {
      let pipeline = connection.pipeline.syncOperations
      let http2 = try pipeline.handler(type: NIOHTTP2Handler.self)
      try pipeline.addHandler(DeferredSettingsHandler(), position: .after(http2))
    }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let frame = unwrapInboundIn(data)
    if openStreamCount == 0, case .settings(.settings) = frame.payload {
      deferred.append(frame)
    } else {
      context.fireChannelRead(data)
    }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case is NIOHTTP2StreamCreatedEvent: openStreamCount += 1
    case is StreamClosedEvent: openStreamCount -= 1
    default: break
    }
    context.fireUserInboundEventTriggered(event)
    guard openStreamCount > 0, !deferred.isEmpty else { return }
    let frames = deferred
    deferred = []
    for frame in frames { context.fireChannelRead(wrapInboundOut(frame)) }
    context.fireChannelReadComplete()
  }
}
