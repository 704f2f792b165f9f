import Foundation
import NIOCore
import NIOHTTP2
import Support

/// One request on one stream. It reads frames, as Apple's server does: the codec of NIO demands an `:authority`, which
/// not every client sends.
///
/// `@unchecked Sendable`: it lives on the event loop of its stream.
final class APNsRequestHandler: ChannelInboundHandler, @unchecked Sendable {
  typealias InboundIn = HTTP2Frame.FramePayload
  typealias OutboundOut = HTTP2Frame.FramePayload

  private let server: APNsServer
  private let connection: Int
  private let raised: Flag
  private var request = APNsRequest()

  /// - Parameter raised: whether the client may have more than one stream.
  init(server: APNsServer, connection: Int, raised: Flag) {
    self.server = server
    self.connection = connection
    self.raised = raised
  }

  func channelActive(context: ChannelHandlerContext) {
    server.streamOpened()
    context.fireChannelActive()
  }

  func channelInactive(context: ChannelHandlerContext) {
    server.streamClosed()
    context.fireChannelInactive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .headers(let part):
      request.headers += part.headers.map { (name: $0.name, value: $0.value) }
      if part.endStream { respond(context) }
    case .data(let part):
      if case .byteBuffer(let bytes) = part.data { request.body.append(contentsOf: bytes.readableBytesView) }
      if part.endStream { respond(context) }
    default: break
    }
  }

  private func respond(_ context: ChannelHandlerContext) {
    let answer = server.answer(to: request, on: connection)
    guard let delay = answer?.delay else { return write(answer, context) }
    let loopBound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    context.eventLoop.scheduleTask(in: delay) {
      let (handler, context) = loopBound.value
      handler.write(answer, context)
    }
  }

  private func write(_ answer: APNsServer.Answer?, _ context: ChannelHandlerContext) {
    let connection = context.channel.parent
    switch answer?.end {
    case .reset:
      context.writeAndFlush(wrapOutboundOut(.rstStream(.internalError)), promise: nil)
      return
    case .closeWithoutAnswer:
      connection?.close(promise: nil)
      return
    case .goAwayWithoutAnswer:
      // As if this request, and those after it, had not been seen.
      goAway(connection, lastStream: .rootStream)
      return
    case .close, .goAway, .oneStream, .settingsWhenIdle, nil: break
    }
    let status = answer?.status ?? 200
    var headers = [(":status", "\(status)"), ("apns-id", request.first("apns-id") ?? UUID().uuidString.lowercased())]
    if let seconds = answer?.retryAfterSeconds { headers.append(("retry-after", "\(seconds)")) }
    let hasBody = status != 200
    context.write(wrapOutboundOut(.headers(.init(headers: .init(headers), endStream: !hasBody))), promise: nil)
    if let answer, hasBody {
      let timestamp = answer.timestamp.map { #","timestamp":\#($0)"# } ?? ""
      let text = #"{"reason":"\#(answer.reason)"\#(timestamp)}"#
      context.write(
        wrapOutboundOut(.data(.init(data: .byteBuffer(ByteBuffer(string: text)), endStream: true))), promise: nil)
    }
    if status == 200, !raised.isRaised {
      raised.raise()
      set(streamsMax: 100, connection)
    }
    let loopBound = NIOLoopBound((self, answer?.end), eventLoop: context.eventLoop)
    context.flush()
    context.eventLoop.execute {
      let (handler, end) = loopBound.value
      switch end {
      case .goAway: handler.goAway(connection, lastStream: .maxID)
      case .close: connection?.close(promise: nil)
      case .oneStream: handler.set(streamsMax: 1, connection)
      case .settingsWhenIdle:
        connection?.eventLoop.scheduleTask(in: .milliseconds(300)) {
          for count in [10, 100] { loopBound.value.0.set(streamsMax: count, connection) }
        }
      default: break
      }
    }
  }

  private func set(streamsMax: Int, _ connection: (any Channel)?) {
    let settings = [HTTP2Setting(parameter: .maxConcurrentStreams, value: streamsMax)]
    connection?.writeAndFlush(
      HTTP2Frame(streamID: .rootStream, payload: .settings(.settings(settings))), promise: nil)
  }

  private func goAway(_ connection: (any Channel)?, lastStream: HTTP2StreamID) {
    let frame = HTTP2Frame(
      streamID: .rootStream,
      payload: .goAway(
        lastStreamID: lastStream, errorCode: .noError, opaqueData: ByteBuffer(string: #"{"reason":"Shutdown"}"#)))
    connection?.writeAndFlush(frame, promise: nil)
  }
}
