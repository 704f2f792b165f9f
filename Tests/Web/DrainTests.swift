import Database
import Foundation
import Gateway
import Hummingbird
import ServiceLifecycle
import Support
import Testing
import Tokens
import Wire

@testable import Web

/// What becomes of requests while a service stops.
@Suite struct DrainTests {
  private static let post = "POST /add HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}"
  private static let lastPost = "POST /add HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}"

  @Test(.timeLimit(.minutes(5)), arguments: [false, true])
  func everyRequestThatCouldBeSentIsRespondedTo(hasTakeover: Bool) async throws {
    for _ in 0..<3 {
      let added = Counter()
      try await withServer(hasTakeover: hasTakeover, added) { port, stop in
        let sent = try await Self.load(Self.lastPost, until: stop) { try await RawConnection(port: port) }
        #expect(sent > 48 && sent == added.value)
      }
    }
  }

  @Test(.timeLimit(.minutes(5))) func alsoOverAUnixSocket() async throws {
    try await withSocketFolder { folder in
      for _ in 0..<3 {
        let added = Counter()
        try await withServer(["SOCKET_DIR": folder], added) { _, stop in
          let path = "\(folder)/credits.sock"
          try await eventually("the socket") { FileManager.default.fileExists(atPath: path) }
          let sent = try await Self.load(Self.lastPost, until: stop) { try await RawConnection(toSocketAt: path) }
          #expect(sent > 48 && sent == added.value)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
      }
    }
  }

  @Test(.timeLimit(.minutes(5))) func thePortClosesWhileARequestOverTheSocketStillRuns() async throws {
    try await withSocketFolder { folder in
      let calls = Counter()
      try await withServer(["SOCKET_DIR": folder], calls) { port, stop in
        let path = "\(folder)/credits.sock"
        try await eventually("the socket") { FileManager.default.fileExists(atPath: path) }
        let connection = try await RawConnection(toSocketAt: path)
        try await connection.send("GET /wait HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        try await eventually("the request runs") { calls.value == 1 }
        await stop()
        // `try?`: refused, it is closed.
        try await eventually("the port is closed") { (try? await RawConnection(port: port)) == nil }
        calls.add()
        #expect(try await connection.untilClosed().hasPrefix("HTTP/1.1 200 OK\r\n"))
      }
    }
  }

  @Test(.timeLimit(.minutes(5))) func theGatewayRespondsToEveryRequestToo() async throws {
    try await withStack(.sqlite) { stack in
      for _ in 0..<3 {
        let settings = stack.dependencies(of: "gateway").settings.overlaid(["DRAIN_SECONDS": "1"])
        let gateway = try buildGateway(
          Dependencies(settings, serviceAddresses: stack.dependencies.serviceAddresses, logger: quiet))
        try await withStop(gateway) { stop in
          let request = "GET /health/live HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
          let port = try await gateway.port.number
          let sent = try await Self.load(request, until: stop) { try await RawConnection(port: port) }
          #expect(sent > 48)
        }
      }
    }
  }

  /// Clients that open a connection for each request, as the gateway does once a service answers `Connection: close`:
  /// at every moment some connections wait to be accepted, and some have been accepted and not read.
  ///
  /// - Parameter stop: begins the graceful shutdown of the server.
  /// - Returns: how many requests were responded to before connections were refused.
  private static func load(
    _ request: String, until stop: () async -> Void, connect: @escaping @Sendable () async throws -> RawConnection
  ) async throws -> Int {
    let count = Counter()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<48 {
        group.addTask {
          while true {
            // `try?`: refused, it has stopped.
            guard let connection = try? await connect() else { return }
            try await connection.send(request)
            let response = try await connection.untilClosed()
            #expect(response.hasPrefix("HTTP/1.1 200 OK\r\n"))
            count.add()
          }
        }
      }
      try await Task.sleep(for: .milliseconds(200))
      await stop()
      try await group.waitForAll()
    }
    return count.value
  }

  /// The last connection that is accepted is often one whose request has not arrived.
  @Test func aConnectionThatWasJustOpenedStillGetsAResponse() async throws {
    let added = Counter()
    try await withServer(drainSeconds: 0, added) { port, stop in
      let (early, silent) = (try await RawConnection(port: port), try await RawConnection(port: port))
      let used = try await RawConnection(port: port)
      try await used.send(Self.post)
      try await eventually("the response") { try await used.received().contains("200 OK") }
      await stop()
      _ = try await used.untilClosed()
      try await early.send(Self.post)
      let response = try await early.untilClosed()
      #expect(response.hasPrefix("HTTP/1.1 200 OK\r\n") && response.contains("connection: close"))
      #expect(try await silent.untilClosed() == "")
    }
    #expect(added.value == 2)
  }

  /// Runs a service that counts calls of `/add`. `body` is given its port, and what begins its graceful shutdown.
  private func withServer(
    _ overrides: [String: String] = [:], drainSeconds: Int = 1, hasTakeover: Bool = false, _ added: Counter,
    _ body: (_ port: Int, _ stop: @Sendable () async -> Void) async throws -> Void
  ) async throws {
    try await withTestDatabase(.sqlite) { testDatabase in
      let settings = [
        "PORT": "0", "SERVICE_KEY": "a-key-of-32-characters-for-a-test", "DRAIN_SECONDS": "\(drainSeconds)",
      ]
      let dependencies = Dependencies(
        Settings(testDatabase.settings.merging(settings) { $1 }.merging(overrides) { $1 }), logger: quiet)
      let authenticator = CallerAuthenticator(
        keys: try ServiceKeys(dependencies.settings), verifier: AccessTokenVerifier(KeyRing(.init(signing: nil))),
        ended: EndedSessionList(), now: dependencies.now
      ) { _ in nil }
      let server = try Server(
        .credits, in: dependencies, database: try await dependencies.openDatabase(ServiceSchema("test", [])),
        authenticator: authenticator, api: OpenAPI(yaml: Array("paths: {}".utf8)),
        takeover: hasTakeover ? ConnectionTakeover(get: "/socket") { $0.close(promise: nil) } : nil
      ) { routes in
        routes.post("/add") { _, _ in
          added.add()
          return "added"
        }
        // Until there is another call.
        routes.get("/wait") { _, _ in
          added.add()
          while added.value < 2 { try await Task.sleep(for: .milliseconds(10)) }
          return "waited"
        }
      }
      try await withStop(server) { stop in try await body(try await server.port.number, stop) }
    }
  }

  /// Runs a service until `body` has called what begins its graceful shutdown.
  private func withStop(
    _ service: any Service, _ body: (_ stop: @escaping @Sendable () async -> Void) async throws -> Void
  ) async throws {
    let group = ServiceGroup(services: [service], logger: quiet)
    let running = Task { try await group.run() }
    do { try await body { await group.triggerGracefulShutdown() } } catch {
      await group.triggerGracefulShutdown()
      throw error
    }
    try await running.value
  }
}
