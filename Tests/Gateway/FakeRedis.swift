import NIOCore
import NIOPosix
import Synchronization

/// A Redis that says what a test wants it to say.
struct FakeRedis: Sendable {
  let url: String
  private let heard: Heard

  /// All that has come, a packet each.
  var packets: [String] { heard.packets.withLock { $0 } }

  /// Closes every connection.
  func hangUp() async throws {
    for channel in heard.channels.withLock({ channels in
      defer { channels = [:] }
      return Array(channels.values)
    }) { try await channel.close() }
  }

  /// What a Redis says when it is greeted, and to the probe.
  static func greeting(_ packet: String) -> String? {
    if packet.contains("\r\nLOAD\r\n") {
      let words = packet.components(ofCommands: "AUTH", "SELECT")
      return String(repeating: "+OK\r\n", count: words) + "$40\r\n" + String(repeating: "a1", count: 20) + "\r\n"
    }
    return packet.contains("kith:limit:probe") ? "*2\r\n:1\r\n:1\r\n" : nil
  }

  /// - Parameter answer: what it says to a packet; nil ends the connection.
  static func with(
    _ answer: @escaping @Sendable (String) -> String?, _ body: (FakeRedis) async throws -> Void
  ) async throws {
    let heard = Heard()
    let server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(Speaker(heard: heard, answer: answer))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    do {
      try await body(FakeRedis(url: "127.0.0.1:\(server.localAddress?.port ?? 0)", heard: heard))
    } catch {
      try await server.close()
      throw error
    }
    try await server.close()
  }
}

private final class Heard: Sendable {
  let packets = Mutex<[String]>([])
  let channels = Mutex<[ObjectIdentifier: any Channel]>([:])
}

private final class Speaker: ChannelInboundHandler, Sendable {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer
  private let heard: Heard
  private let answer: @Sendable (String) -> String?

  init(heard: Heard, answer: @escaping @Sendable (String) -> String?) {
    self.heard = heard
    self.answer = answer
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    heard.channels.withLock { $0[ObjectIdentifier(context.channel)] = context.channel }
    let packet = String(buffer: unwrapInboundIn(data))
    heard.packets.withLock { $0.append(packet) }
    guard let words = answer(packet) else { return context.close(promise: nil) }
    context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: words)), promise: nil)
  }
}

extension String {
  /// How many of these commands it holds.
  fileprivate func components(ofCommands names: String...) -> Int {
    names.count { contains("\r\n\($0)\r\n") }
  }
}
