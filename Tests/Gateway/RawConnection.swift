import NIOCore
import NIOPosix
import Support
import Synchronization

/// A socket on which a test can send any bytes.
final class RawConnection: Sendable {
  private let channel: any Channel
  private let collected: Collected

  private final class Collected: Sendable { let text = Mutex("") }

  /// - Parameters:
  ///   - receiveBytes: what the kernel may hold that has not been read; nil: as much as it likes.
  ///   - address: one of this machine, to come from.
  init(port: Int, receiveBytes: Int? = nil, from address: String = "127.0.0.1") async throws {
    let collected = Collected()
    self.collected = collected
    let plain = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .bind(to: try SocketAddress(ipAddress: address, port: 0))
    let bootstrap = receiveBytes.map { plain.channelOption(.socketOption(.so_rcvbuf), value: .init($0)) } ?? plain
    channel = try await bootstrap.channelOption(.autoRead, value: false)
      .channelInitializer { channel in
        channel.pipeline.addHandler(Collector { text in collected.text.withLock { $0 += text } })
      }
      .connect(host: "127.0.0.1", port: port).get()
  }

  func send(_ bytes: [UInt8]) async throws { try await channel.writeAndFlush(ByteBuffer(bytes: bytes)) }

  func send(_ text: String) async throws { try await channel.writeAndFlush(ByteBuffer(string: text)) }

  /// Reads once more and says what has come so far.
  func received() async throws -> String {
    channel.read()
    try await Task.sleep(for: .milliseconds(10))
    return collected.text.withLock { $0 }
  }

  /// - Throws: ``Unexpected`` when the other side does not close.
  func untilClosed() async throws -> String {
    try await eventually("the close") {
      if channel.isActive { channel.read() }
      return !channel.isActive
    }
    return collected.text.withLock { $0 }
  }

  func close() { channel.close(promise: nil) }
}

private final class Collector: ChannelInboundHandler, Sendable {
  typealias InboundIn = ByteBuffer
  private let collect: @Sendable (String) -> Void

  init(_ collect: @escaping @Sendable (String) -> Void) { self.collect = collect }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) { collect(String(buffer: unwrapInboundIn(data))) }
}
