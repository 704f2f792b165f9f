import Database
import Foundation
import Hummingbird
import NIOCore
import NIOPosix
import Support
import Testing
import Tokens

@testable import Web

/// A service that also listens on a Unix socket.
@Suite struct UnixSocketTests {
  private static let request = "GET /peer HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"

  /// A service whose `/peer` responds with the address that it takes for its client's.
  private func server(
    _ folder: String, in testDatabase: TestDatabase, _ log: RecordedLog = RecordedLog()
  ) async throws -> Server {
    let settings = ["PORT": "0", "SOCKET_DIR": folder, "SERVICE_KEYS": "gateway:\(TestStack.keys["gateway"] ?? "")"]
    let dependencies = Dependencies(Settings(testDatabase.settings.merging(settings) { $1 }), logger: log.logger)
    let authenticator = CallerAuthenticator(
      keys: try ServiceKeys(dependencies.settings), verifier: AccessTokenVerifier(KeyRing(.init(signing: nil))),
      ended: EndedSessionList(), now: dependencies.now
    ) { _ in nil }
    return try Server(
      .credits, in: dependencies, database: try await dependencies.openDatabase(ServiceSchema("test", [])),
      authenticator: authenticator, api: OpenAPI(yaml: Array("paths: {}".utf8))
    ) { routes in
      routes.get("/peer") { request, context in "\(request.clientAddress) \(context.isLoopback)" }
    }
  }

  private func withServer(_ folder: String, _ body: (_ port: Int, _ path: String) async throws -> Void) async throws {
    try await withTestDatabase(.sqlite) { testDatabase in
      let log = RecordedLog()
      let server = try await server(folder, in: testDatabase, log)
      let path = "\(folder)/credits.sock"
      try await running([server]) {
        let port = try await server.port.number
        try await eventually("the socket") { log.lines.contains { $0.contains(path) } }
        try await body(port, path)
      }
    }
  }

  private static func listens(_ path: String) async -> Bool {
    do {
      try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .connect(unixDomainSocketPath: path).get().close()
      return true
    } catch { return false }
  }

  @Test func itIsReachedByItsPortAndByItsSocket() async throws {
    try await withSocketFolder { folder in
      try await withServer(folder) { port, path in
        let overPort = try await RawConnection(port: port)
        try await overPort.send(Self.request + "\r\n")
        #expect(try await overPort.untilClosed().hasSuffix("\r\n\r\n127.0.0.1 true"))
        let overSocket = try await RawConnection(toSocketAt: path)
        try await overSocket.send(Self.request + "\r\n")
        // Not taken for this machine, which may do more: who connects to the socket may be a proxy.
        #expect(try await overSocket.untilClosed().hasSuffix("\r\n\r\ndirect false"))
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
    }
  }

  /// Only the gateway says who its client is.
  @Test func aStrangerCannotChooseItsAddress() async throws {
    try await withSocketFolder { folder in
      try await withServer(folder) { _, path in
        for (key, address) in [("", "direct"), ("X-Service-Key: \(TestStack.keys["gateway"] ?? "")\r\n", "192.0.2.7")] {
          let connection = try await RawConnection(toSocketAt: path)
          try await connection.send(Self.request + "X-Forwarded-For: 192.0.2.7\r\n\(key)\r\n")
          let response = try await connection.untilClosed()
          #expect(response.hasSuffix("\r\n\r\n\(address) false"), "\(response)")
        }
      }
    }
  }

  @Test func aDeploymentCanWaitForIt() async throws {
    try await withSocketFolder { folder in
      try await withServer(folder) { _, path in try await ReadinessWait(forPrograms: ["unix:\(path)"]).run() }
    }
  }

  @Test func theSocketOfAProcessThatWasKilledIsReplaced() async throws {
    try await withSocketFolder { folder in
      let path = "\(folder)/credits.sock"
      try await leaveSocket(at: path)
      #expect(FileManager.default.fileExists(atPath: path))
      try await withServer(folder) { _, path in #expect(await Self.listens(path)) }
    }
  }

  /// The reason why a service cannot start.
  private func refusal(_ folder: String) async throws -> String? {
    var reason: String?
    try await withTestDatabase(.sqlite) { testDatabase in
      reason = await #expect(throws: StartFailure.self) { try await server(folder, in: testDatabase).run() }?
        .description
    }
    return reason
  }

  @Test(.timeLimit(.minutes(5))) func oneThatIsInUseIsLeftAlone() async throws {
    try await withSocketFolder { folder in
      let path = "\(folder)/credits.sock"
      let other = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .bind(unixDomainSocketPath: path).get()
      #expect(try await refusal(folder) == "\(path) is in use by another program")
      #expect(await Self.listens(path))
      try await other.close()
    }
  }

  @Test(.timeLimit(.minutes(5))) func whereNoneCanBeTheReasonIsSaid() async throws {
    try await withSocketFolder { folder in
      let path = "\(folder)/credits.sock"
      try Data("precious".utf8).write(to: URL(filePath: path))
      #expect(try await refusal(folder) == "\(path) is not a socket")
      #expect(try Data(contentsOf: URL(filePath: path)) == Data("precious".utf8))
      let none = "\(folder)/none"
      #expect(try await refusal(none) == "cannot listen on \(none)/credits.sock: No such file or directory")
      #expect(try await refusal("run/kith") == "SOCKET_DIR is not an absolute path")
      let long = folder + "/" + String(repeating: "a", count: 100)
      #expect(try await refusal(long)?.hasPrefix("SOCKET_DIR is longer than") ?? false)
    }
  }

  /// One that has been replaced meanwhile, as by hand.
  @Test func theSocketOfAnotherProcessIsNotRemoved() async throws {
    try await withSocketFolder { folder in
      var other: (any Channel)?
      try await withServer(folder) { _, path in
        try FileManager.default.removeItem(atPath: path)
        other = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
          .bind(unixDomainSocketPath: path).get()
      }
      #expect(await Self.listens("\(folder)/credits.sock"))
      try await other?.close()
    }
  }
}
