import Database
import Foundation
import Gateway
import Hummingbird
import NIOCore
import NIOPosix
import Support
import Testing
import Tokens

@testable import Web

/// A server that is called within its process.
@Suite struct LocalListenerTests {
  @Test func aStopLetsRequestsInFlightEndAndTakesNoMore() async throws {
    let (held, unused, local) = try await withEchoServer(over: .local) { server in
      let held = try await server.connect()
      try await held.send("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n")
      let unused = try await server.connect()
      try await eventually("the request") { server.count == 1 }
      return (Task { try await held.untilClosed() }, Task { try await unused.untilClosed() }, server.local)
    }
    let response = try await held.value
    #expect(response.hasPrefix("HTTP/1.1 200 OK\r\n") && response.contains("connection: close"))
    #expect(try await unused.value == "")
    await #expect(throws: ChannelError.ioOnClosedChannel) {
      _ = try await RawConnection(within: try #require(local).connect)
    }
  }

  /// Its address is one on which nothing listens.
  @Test func theGatewayCallsAServiceOfItsProcessWithoutASocket() async throws {
    try await withTestDatabase(.sqlite) { testDatabase in
      let settings = testDatabase.settings.merging([
        "PORT": "0", "SERVICE_KEY": "a-key-of-32-characters-for-a-test", "LISTS_URL": "http://127.0.0.1:1",
        "JWT_SECRET_KEY": String(repeating: "k", count: 64),
      ]) { $1 }
      let dependencies = Dependencies(Settings(settings), logger: quiet)
      let authenticator = CallerAuthenticator(
        keys: try ServiceKeys(dependencies.settings), verifier: AccessTokenVerifier(KeyRing(.init(signing: nil))),
        ended: EndedSessionList(), now: dependencies.now
      ) { _ in nil }
      let server = try Server(
        .lists, in: dependencies, database: try await dependencies.openDatabase(ServiceSchema("test", [])),
        authenticator: authenticator, api: OpenAPI(yaml: Array("paths: {}".utf8))
      ) { routes in
        routes.post("/public") { request, context in
          var count = 0
          for try await part in request.body { count += part.readableBytes }
          return "\(context.service?.name ?? "-") \(request.clientAddress) \(count)"
        }
      }
      let routes = [Route(.POST, "/public", to: .lists, bodyBytesMax: 1_000_000)]
      let inProcess = try buildGateway(dependencies, routes: routes, local: [.lists: server.local])
      let apart = try buildGateway(dependencies, routes: routes)
      try await running([server, inProcess, apart]) {
        let body = Data(repeating: UInt8(ascii: "x"), count: 300_000)
        let address = "http://127.0.0.1:\(try await inProcess.port.number)"
        let response = try await Browser(address).send(.POST, "/public", body: body)
        let text = response.text
        #expect(text == "shared 127.0.0.1 300000" && response.status == 200)
        let other = Browser("http://127.0.0.1:\(try await apart.port.number)")
        let unreachable = try await other.send(.POST, "/public", body: body)
        #expect(unreachable.status == 503, "\(unreachable.text)")
      }
    }
  }
}
