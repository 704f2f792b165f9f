import Foundation
import KithClient
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket

/// WebSockets over plain TCP for the client's tests, as Foundation has none on Linux.
struct NIOWebSocketTransport: WebSocketTransport {
  func open(_ url: URL) async throws -> any WebSocketConnection {
    let (texts, received) = AsyncThrowingStream<String, any Error>.makeStream()
    do {
      let upgraded = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
        .connect(host: url.host ?? "", port: url.port ?? 80) { channel in
          channel.eventLoop.makeCompletedFuture { try Self.upgrade(channel, to: url, received) }
        }
      guard let channel = try await upgraded.get() else { throw WebSocketsUnavailable() }
      return NIOWebSocket(channel: channel, texts: texts)
    } catch let error as WebSocketsUnavailable { throw error } catch { throw NoAnswer("\(error)") }
  }

  /// - Returns: nil inside when the server answers with another status than 101.
  private static func upgrade(
    _ channel: any Channel, to url: URL, _ received: AsyncThrowingStream<String, any Error>.Continuation
  ) throws -> EventLoopFuture<(any Channel)?> {
    let upgrader = NIOTypedWebSocketClientUpgrader<(any Channel)?>(
      maxFrameSize: 1 << 22,
      upgradePipelineHandler: { channel, _ in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(TextReader(received))
          return channel
        }
      })
    var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "\(url.path)?\(url.query ?? "")")
    head.headers.add(name: "host", value: url.host ?? "")
    return try channel.pipeline.syncOperations.configureUpgradableHTTPClientPipeline(
      configuration: .init(
        upgradeConfiguration: NIOTypedHTTPClientUpgradeConfiguration(
          upgradeRequestHead: head, upgraders: [upgrader],
          notUpgradingCompletionHandler: { channel in channel.close().map { nil } })))
  }
}

private struct NIOWebSocket: WebSocketConnection {
  let channel: any Channel
  let texts: AsyncThrowingStream<String, any Error>

  func send(_ text: String) async throws {
    do {
      try await channel.writeAndFlush(
        WebSocketFrame(fin: true, opcode: .text, maskKey: .random(), data: ByteBuffer(string: text)))
    } catch { throw NoAnswer("\(error)") }
  }

  func receive() async throws -> String {
    for try await text in texts { return text }
    throw CancellationError()
  }

  func close() { channel.close(promise: nil) }
}

/// Passes texts on, and answers pings.
private final class TextReader: ChannelInboundHandler {
  typealias InboundIn = WebSocketFrame
  typealias OutboundOut = WebSocketFrame

  private let received: AsyncThrowingStream<String, any Error>.Continuation

  init(_ received: AsyncThrowingStream<String, any Error>.Continuation) { self.received = received }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let frame = unwrapInboundIn(data)
    switch frame.opcode {
    case .text: received.yield(String(buffer: frame.unmaskedData))
    case .ping:
      let pong = WebSocketFrame(fin: true, opcode: .pong, maskKey: .random(), data: frame.unmaskedData)
      context.writeAndFlush(wrapOutboundOut(pong), promise: nil)
    case .connectionClose: context.close(promise: nil)
    default: break
    }
  }

  func channelInactive(context: ChannelHandlerContext) { received.finish(throwing: NoAnswer("closed")) }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
