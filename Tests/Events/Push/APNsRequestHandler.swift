import Foundation
import NIOCore
import NIOHTTP1
import NIOHTTP2
import Support

/// One request on one stream.
///
/// `@unchecked Sendable`: it lives on the event loop of its stream.
final class APNsRequestHandler: ChannelInboundHandler, @unchecked Sendable {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private let server: APNsServer
  private let connection: Int
  private let raised: Flag
  private var head: HTTPRequestHead?
  private var body = Data()

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
    case .head(let head): self.head = head
    case .body(let part): body.append(contentsOf: part.readableBytesView)
    case .end: answer(context)
    }
  }

  private func answer(_ context: ChannelHandlerContext) {
    guard let head else { return }
    let answer = server.answer(to: head, body, on: connection)
    var headers = HTTPHeaders([("apns-id", head.headers.first(name: "apns-id") ?? UUID().uuidString.lowercased())])
    if let seconds = answer?.retryAfterSeconds { headers.add(name: "retry-after", value: "\(seconds)") }
    let status = answer?.status ?? 200
    context.write(
      wrapOutboundOut(.head(.init(version: .http2, status: .init(statusCode: status), headers: headers))),
      promise: nil)
    if let answer, status != 200 {
      let timestamp = answer.timestamp.map { #","timestamp":\#($0)"# } ?? ""
      let text = #"{"reason":"\#(answer.reason)"\#(timestamp)}"#
      context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: text)))), promise: nil)
    }
    let connection = context.channel.parent
    if status == 200, !raised.isRaised {
      raised.raise()
      let frame = HTTP2Frame(
        streamID: .rootStream,
        payload: .settings(.settings([HTTP2Setting(parameter: .maxConcurrentStreams, value: 100)])))
      connection?.writeAndFlush(frame, promise: nil)
    }
    context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in
      switch answer?.end {
      case .goAway:
        let frame = HTTP2Frame(
          streamID: .rootStream,
          payload: .goAway(
            lastStreamID: .maxID, errorCode: .noError, opaqueData: ByteBuffer(string: #"{"reason":"Shutdown"}"#)))
        connection?.writeAndFlush(frame, promise: nil)
      case .close: connection?.close(promise: nil)
      case nil: break
      }
    }
  }
}
