import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// A socket on which a test can send any bytes. It stays open until ``close()``.
package final class RawConnection: Sendable {
  private let channel: any Channel
  private let collected: Collected

  private final class Collected: Sendable { let bytes = Mutex<[UInt8]>([]) }

  /// - Parameters:
  ///   - receiveBytes: the size of the kernel's receive buffer; nil: the system's default.
  ///   - address: the local address to connect from.
  ///   - trustRoots: with these the connection is encrypted, to a server named localhost.
  package init(
    port: Int, receiveBytes: Int? = nil, from address: String = "127.0.0.1",
    trusting trustRoots: NIOSSLTrustRoots? = nil
  ) async throws {
    let collected = Collected()
    self.collected = collected
    let tls = try trustRoots.map { trustRoots in
      var configuration = TLSConfiguration.makeClientConfiguration()
      configuration.trustRoots = trustRoots
      return try NIOSSLContext(configuration: configuration)
    }
    let plain = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .bind(to: try SocketAddress(ipAddress: address, port: 0))
    let bootstrap = receiveBytes.map { plain.channelOption(.socketOption(.so_rcvbuf), value: .init($0)) } ?? plain
    channel = try await bootstrap.channelOption(.autoRead, value: false)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let pipeline = channel.pipeline.syncOperations
          if let tls { try pipeline.addHandler(NIOSSLClientHandler(context: tls, serverHostname: "localhost")) }
          try pipeline.addHandler(
            Collector { bytes in collected.bytes.withLock { $0 += bytes.readableBytesView } })
        }
      }
      .connect(host: "127.0.0.1", port: port).get()
    // The handshake.
    if tls != nil { channel.read() }
  }

  /// A connection to the server that `browser` calls.
  package convenience init(to browser: Browser) async throws {
    try await self.init(port: Int(browser.base.split(separator: ":").last ?? "") ?? 0)
  }

  /// - Parameter connect: opens the channel, which reads when it is told to, on its event loop.
  package init(
    within connect: @escaping @Sendable (_ loop: any EventLoop) throws -> any Channel
  ) async throws {
    let collected = Collected()
    self.collected = collected
    let loop = MultiThreadedEventLoopGroup.singleton.any()
    channel = try await loop.submit {
      let channel = try connect(loop)
      try channel.pipeline.syncOperations.addHandler(
        Collector { bytes in collected.bytes.withLock { $0 += bytes.readableBytesView } })
      return channel
    }.get()
  }

  /// A connection to a Unix socket.
  package init(toSocketAt path: String) async throws {
    let collected = Collected()
    self.collected = collected
    channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .channelOption(.autoRead, value: false)
      .channelInitializer { channel in
        channel.pipeline.addHandler(Collector { bytes in collected.bytes.withLock { $0 += bytes.readableBytesView } })
      }
      .connect(unixDomainSocketPath: path).get()
  }

  /// - Throws: when the other side has closed.
  package func send(_ bytes: some Sequence<UInt8> & Sendable) async throws {
    try await channel.writeAndFlush(ByteBuffer(bytes: bytes))
  }

  package func send(_ text: String) async throws { try await channel.writeAndFlush(ByteBuffer(string: text)) }

  /// Reads once more and returns everything received so far.
  package func received() async throws -> String { String(decoding: try await receivedBytes(), as: UTF8.self) }

  /// The same for bytes that are not text.
  package func receivedBytes() async throws -> [UInt8] {
    channel.read()
    try await Task.sleep(for: .milliseconds(10))
    return bytes
  }

  /// Everything received so far.
  package var bytes: [UInt8] { collected.bytes.withLock { $0 } }

  /// - Throws: ``Unexpected`` when the other side neither closes nor sends anything for a minute.
  package func untilClosed() async throws -> String {
    var before = receivedCount
    while channel.isActive {
      // Again for each part: how many there are depends on the buffers, and how long each takes on the machine.
      try await eventually("the close") {
        if channel.isActive { channel.read() }
        return !channel.isActive || receivedCount > before
      }
      before = receivedCount
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private var receivedCount: Int { collected.bytes.withLock { $0.count } }

  /// Ends the sending side only.
  package func endOutput() async throws { try await channel.close(mode: .output) }

  package func close() { channel.close(promise: nil) }
}

private final class Collector: ChannelInboundHandler, Sendable {
  typealias InboundIn = ByteBuffer
  private let collect: @Sendable (ByteBuffer) -> Void

  init(_ collect: @escaping @Sendable (ByteBuffer) -> Void) { self.collect = collect }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) { collect(unwrapInboundIn(data)) }
}
