import NIOCore
import NIOPosix
import Support
import Synchronization

/// A proxy on loopback that cuts connections at random: before a request has arrived, after it has arrived but before
/// any answer, or in the middle of the answer.
final class CuttingProxy: Sendable {
  private let target: Int
  private let cutsInHundred: Int
  private let random: Mutex<SeededRandom>
  private let cutCount = Atomic(0)
  /// The answers of which at most half was passed on.
  private let lostAnswerCount = Atomic(0)

  var cuts: Int { cutCount.load(ordering: .relaxed) }
  var lostAnswers: Int { lostAnswerCount.load(ordering: .relaxed) }

  private init(target: Int, cutsInHundred: Int, seed: UInt64) {
    self.target = target
    self.cutsInHundred = cutsInHundred
    random = Mutex(SeededRandom(seed: seed))
  }

  /// Runs `body` with the URL of a proxy in front of a port of this machine.
  static func run(
    before target: Int, cutsInHundred: Int, seed: UInt64, _ body: (CuttingProxy, String) async throws -> Void
  ) async throws {
    let proxy = CuttingProxy(target: target, cutsInHundred: cutsInHundred, seed: seed)
    let server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .bind(host: "127.0.0.1", port: 0) { channel in
        channel.eventLoop.makeCompletedFuture {
          try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
        }
      }
    let accepting = Task { try await proxy.accept(server) }
    do {
      try await body(proxy, "http://127.0.0.1:\(server.channel.localAddress?.port ?? 0)")
      accepting.cancel()
      _ = await accepting.result
    } catch {
      accepting.cancel()
      _ = await accepting.result
      throw error
    }
  }

  private func accept(_ server: NIOAsyncChannel<NIOAsyncChannel<ByteBuffer, ByteBuffer>, Never>) async throws {
    try await server.executeThenClose { connections in
      try await withThrowingDiscardingTaskGroup { group in
        for try await connection in connections {
          // `try?`: a connection that ends with an error is what this is for.
          group.addTask { try? await self.serve(connection) }
        }
      }
    }
  }

  private func serve(_ client: NIOAsyncChannel<ByteBuffer, ByteBuffer>) async throws {
    let server = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .connect(host: "127.0.0.1", port: target) { channel in
        channel.eventLoop.makeCompletedFuture {
          try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
        }
      }
    try await client.executeThenClose { requests, toClient in
      try await server.executeThenClose { answers, toServer in
        try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask {
            for try await piece in requests {
              if self.isCut() { return }
              try await toServer.write(piece)
            }
          }
          group.addTask {
            for try await piece in answers {
              if self.isCut() {
                self.lostAnswerCount.add(1, ordering: .relaxed)
                // Every second time with a part of the answer.
                let half = piece.getSlice(at: piece.readerIndex, length: piece.readableBytes / 2)
                if let half, self.isEven() { try await toClient.write(half) }
                return
              }
              try await toClient.write(piece)
            }
          }
          // The end of one direction is the end of the connection.
          try await group.next()
          group.cancelAll()
        }
      }
    }
  }

  private func isCut() -> Bool {
    guard random.withLock({ Int.random(in: 0..<100, using: &$0) }) < cutsInHundred else { return false }
    cutCount.add(1, ordering: .relaxed)
    return true
  }

  private func isEven() -> Bool { random.withLock { Bool.random(using: &$0) } }
}
