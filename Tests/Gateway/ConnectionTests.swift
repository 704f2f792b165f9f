import Foundation
import NIOCore
import NIOPosix
import StrictHTTP
import Support
import Testing
import Web

@testable import Gateway

/// Connection states that are hard to reach from outside.
@Suite struct ConnectionTests {
  /// As while a name is not resolved yet: both address families are tried, and one of them refuses.
  @Test func aServiceThatIsOnlyAtOneOfItsAddressesIsReached() async throws {
    let service = TestService()
    try await running([service.server()]) {
      let url = try #require(UpstreamURL("http://both.test:\(try await service.listening.number)"))
      let loop = MultiThreadedEventLoopGroup.singleton.next()
      for _ in 0..<10 {
        let promise = loop.makePromise(of: Bool.self)
        loop.execute {
          let pool = EndpointPool(
            Endpoint(.credits, url, nil), key: "k", tls: UpstreamTLS(trustRoots: .default), on: loop,
            resolver: DualStackResolver(loop))
          pool.connect { upstream in
            guard let upstream else { return promise.succeed(false) }
            // By then any late event of the failed attempt has arrived.
            loop.assumeIsolated().scheduleTask(in: .milliseconds(20)) {
              promise.succeed(upstream.isOpen && upstream.isWritable && pool.activeCount == 1)
              upstream.close()
            }
          }
        }
        #expect(try await promise.futureResult.get())
      }
    }
  }

  /// A closed client connection is noticed at the latest when "100 Continue" is written.
  @Test func aClientThatGoesWhenToldToGoOnKeepsNothing() async throws {
    try await withGateway { gateway in
      let loop = MultiThreadedEventLoopGroup.singleton.next()
      let loopState = try await loop.submit { NIOLoopBound(gateway.server.makeLoop(loop), eventLoop: loop) }.get()
      let state = gateway.server.state
      let server = try await ServerBootstrap(group: loop)
        .childChannelOption(.autoRead, value: false)
        .childChannelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandlers([
              CloseOnContinueHandler(), ClientHandler(state, on: loopState.value),
            ])
          }
        }
        .bind(host: "127.0.0.1", port: 0).get()
      let port = server.localAddress?.port ?? 0
      let other = try await RawConnection(port: port)
      try await other.send("GET /echo?n=1 HTTP/1.1\r\nHost: x\r\n\r\n")
      try await eventually("an answer") { try await other.received().contains("200 OK") }
      // The premise: the connection is kept, and not in use any more.
      try await eventually("an idle connection") {
        try await loop.submit { loopState.value.pool(of: .credits).choose()?.activeCount }.get() == 0
      }
      let leaving = try await RawConnection(port: port)
      try await leaving.send("POST /small HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n")
      #expect(try await leaving.untilClosed().isEmpty)
      let activeCount = try await loop.submit { loopState.value.pool(of: .credits).choose()?.activeCount }.get()
      #expect(activeCount == 0)
      other.close()
      try await server.close()
    }
  }

  @Test func deadlinesAreCheckedOnlyWhileThereAreConnections() async throws {
    try await withStack(.sqlite) { stack in
      let server = try buildGateway(stack.dependencies(of: "gateway"))
      try await running([server]) {
        let port = try await server.port.number
        #expect(await server.loops.gather { $0.isSweeping }.allSatisfy { !$0 })
        let raw = try await RawConnection(port: port)
        try await eventually("the timer") { await server.loops.gather { $0.isSweeping }.count { $0 } == 1 }
        raw.close()
        try await eventually("its end") { await server.loops.gather { $0.isSweeping }.allSatisfy { !$0 } }
      }
    }
  }

  @Test func oneLargeAnswerDoesNotMakeTheOthersLarge() async throws {
    try await withGateway(["DEBUG": "true"]) { gateway in
      let raw = try await RawConnection(port: gateway.port)
      try await raw.send("GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: x\r\n\r\n")
      try await raw.send("GET /echo?n=1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
      #expect(try await raw.untilClosed().utf8.count > 16 * 1024)
      let capacities = await gateway.server.loops.gather { $0.outbound.capacity }
      #expect(capacities.allSatisfy { $0 <= 16 * 1024 }, "\(capacities)")
    }
  }
}

/// Resolves any name to one address of each family.
private final class DualStackResolver: Resolver, Sendable {
  private let loop: any EventLoop

  init(_ loop: any EventLoop) { self.loop = loop }

  func initiateAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> { response("127.0.0.1", port) }

  func initiateAAAAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> { response("::1", port) }

  func cancelQueries() {}

  private func response(_ address: String, _ port: Int) -> EventLoopFuture<[SocketAddress]> {
    loop.makeCompletedFuture { [try SocketAddress(ipAddress: address, port: port)] }
  }
}

/// Closes the client connection as soon as "100 Continue" is written.
private final class CloseOnContinueHandler: ChannelOutboundHandler {
  typealias OutboundIn = ByteBuffer

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    if String(buffer: unwrapOutboundIn(data)).hasPrefix("HTTP/1.1 100") { context.close(promise: nil) }
    context.write(data, promise: promise)
  }
}
