import Foundation
import NIOCore
import NIOPosix
import StrictHTTP
import Support
import Testing
import Web

@testable import Gateway

/// The gateway's connections at close quarters: what chance would seldom show from outside.
@Suite struct ConnectionTests {
  /// As while a name is not resolved yet: both families are tried, and one of them refuses.
  @Test func aServiceThatIsOnlyAtOneOfItsAddressesIsReached() async throws {
    let service = WatchedService()
    try await running([service.server()]) {
      let url = try #require(UpstreamURL("http://both.test:\(try await service.listening.number)"))
      let loop = MultiThreadedEventLoopGroup.singleton.next()
      for _ in 0..<10 {
        let promise = loop.makePromise(of: Bool.self)
        loop.execute {
          let pool = EndpointPool(
            Endpoint(.credits, url, nil), key: "k", tls: nil, on: loop, resolver: BothFamilies(loop))
          pool.connect { upstream in
            guard let upstream else { return promise.succeed(false) }
            // What is still to come of the attempt that failed has come by then.
            loop.assumeIsolated().scheduleTask(in: .milliseconds(20)) {
              promise.succeed(upstream.isOpen && upstream.isWritable && pool.busy == 1)
              upstream.close()
            }
          }
        }
        #expect(try await promise.futureResult.get())
      }
    }
  }

  /// A client that has gone is noticed at the latest when it is told to go on.
  @Test func aClientThatGoesWhenToldToGoOnKeepsNothing() async throws {
    try await withPipe { pipe in
      let loop = MultiThreadedEventLoopGroup.singleton.next()
      let state = try await loop.submit { NIOLoopBound(pipe.gateway.makeLoop(loop), eventLoop: loop) }.get()
      let gateway = pipe.gateway.state
      let server = try await ServerBootstrap(group: loop)
        .childChannelOption(.autoRead, value: false)
        .childChannelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandlers([Leaving(), ClientHandler(gateway, on: state.value)])
          }
        }
        .bind(host: "127.0.0.1", port: 0).get()
      let port = server.localAddress?.port ?? 0
      let other = try await RawConnection(port: port)
      try await other.send("GET /echo?n=1 HTTP/1.1\r\nHost: x\r\n\r\n")
      try await eventually("an answer") { try await other.received().contains("200 OK") }
      let idle = try await loop.submit { state.value.pool(of: .credits).choose()?.busy }.get()
      #expect(idle == 0, "the premise: a connection is kept")
      let leaving = try await RawConnection(port: port)
      try await leaving.send("POST /small HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n")
      #expect(try await leaving.untilClosed().isEmpty)
      let busy = try await loop.submit { state.value.pool(of: .credits).choose()?.busy }.get()
      #expect(busy == 0)
      other.close()
      try await server.close()
    }
  }

  @Test func oneLargeAnswerDoesNotMakeTheOthersLarge() async throws {
    try await withPipe(["DEBUG": "true"]) { pipe in
      let raw = try await RawConnection(port: pipe.port)
      try await raw.send("GET /docs/pages.js HTTP/1.1\r\nHost: x\r\n\r\n")
      try await raw.send("GET /echo?n=1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
      #expect(try await raw.untilClosed().utf8.count > 16 * 1024)
      let capacities = await pipe.gateway.loops.gather { $0.out.capacity }
      #expect(capacities.allSatisfy { $0 <= 16 * 1024 }, "\(capacities)")
    }
  }
}

/// A name with an address of each family.
private final class BothFamilies: Resolver, Sendable {
  private let loop: any EventLoop

  init(_ loop: any EventLoop) { self.loop = loop }

  func initiateAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> { answer("127.0.0.1", port) }

  func initiateAAAAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> { answer("::1", port) }

  func cancelQueries() {}

  private func answer(_ address: String, _ port: Int) -> EventLoopFuture<[SocketAddress]> {
    loop.makeCompletedFuture { [try SocketAddress(ipAddress: address, port: port)] }
  }
}

/// A client that is gone as soon as it is told to go on.
private final class Leaving: ChannelOutboundHandler {
  typealias OutboundIn = ByteBuffer

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    if String(buffer: unwrapOutboundIn(data)).hasPrefix("HTTP/1.1 100") { context.close(promise: nil) }
    context.write(data, promise: promise)
  }
}
