import NIOCore
import NIOPosix
import Synchronization

/// A fake Redis that replies what a test specifies.
struct FakeRedis: Sendable {
  let url: String
  private let recording: Recording

  /// All received bytes, one string for each read.
  var packets: [String] { recording.packets.withLock { $0 } }

  /// Closes every connection.
  func closeConnections() async throws {
    for channel in recording.channels.withLock({ channels in
      defer { channels = [:] }
      return Array(channels.values)
    }) { try await channel.close() }
  }

  /// The replies of a real Redis to the handshake and to the probe; nil for other commands.
  static func handshakeReply(_ packet: String) -> String? {
    if packet.contains("\r\nLOAD\r\n") {
      let words = packet.components(ofCommands: "AUTH", "SELECT")
      return String(repeating: "+OK\r\n", count: words) + "$40\r\n" + String(repeating: "a1", count: 20) + "\r\n"
    }
    return packet.contains("kith:limit:probe") ? "*2\r\n:1\r\n:1\r\n" : nil
  }

  /// - Parameter reply: the reply to the received bytes; nil closes the connection.
  static func with(
    _ reply: @escaping @Sendable (String) -> String?, _ body: (FakeRedis) async throws -> Void
  ) async throws {
    let recording = Recording()
    let server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(ScriptedRedisHandler(recording: recording, reply: reply))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    do {
      try await body(FakeRedis(url: "127.0.0.1:\(server.localAddress?.port ?? 0)", recording: recording))
    } catch {
      try await server.close()
      throw error
    }
    try await server.close()
  }
}

private final class Recording: Sendable {
  let packets = Mutex<[String]>([])
  let channels = Mutex<[ObjectIdentifier: any Channel]>([:])
}

private final class ScriptedRedisHandler: ChannelInboundHandler, Sendable {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer
  private let recording: Recording
  private let reply: @Sendable (String) -> String?

  init(recording: Recording, reply: @escaping @Sendable (String) -> String?) {
    self.recording = recording
    self.reply = reply
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    recording.channels.withLock { $0[ObjectIdentifier(context.channel)] = context.channel }
    let packet = String(buffer: unwrapInboundIn(data))
    recording.packets.withLock { $0.append(packet) }
    guard let words = reply(packet) else { return context.close(promise: nil) }
    context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: words)), promise: nil)
  }
}

extension String {
  /// The number of these commands in the text.
  fileprivate func components(ofCommands names: String...) -> Int {
    names.count { contains("\r\n\($0)\r\n") }
  }
}
