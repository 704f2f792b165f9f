import NIOSSL
import Support
import Testing
import Web

@testable import Gateway

/// A gateway with a WebSocket to a ``SocketService``.
struct SocketGateway: Sendable {
  let service: SocketService
  let server: GatewayServer
  let stack: TestStack
  let serviceAddresses: ServiceAddresses
  let port: Int

  static let routes: [Route] = [
    .init(.GET, "/socket", to: .credits, bearer: .ifValid, isWebSocket: true), .init(.GET, "/echo", to: .credits),
  ]

  /// Opens a WebSocket.
  ///
  /// - Parameter receiveBytes: the size of the kernel's receive buffer of the client.
  func open(
    _ behavior: SocketService.Behavior = .echo, _ others: String..., from address: String = "127.0.0.1",
    receiveBytes: Int? = nil, trusting trustRoots: NIOSSLTrustRoots? = nil
  ) async throws -> RawConnection {
    let raw = try await RawConnection(
      port: port, receiveBytes: receiveBytes, from: address, trusting: trustRoots)
    var lines = SocketHandshake.lines
    lines += others
    try await raw.send(SocketHandshake.head(behavior, lines: lines))
    try await eventually("the switch") { try await raw.received().contains("\r\n\r\n") }
    let head = raw.head
    guard head.hasPrefix("HTTP/1.1 101 ") else { throw Unexpected(reply: head) }
    return raw
  }

  var metrics: String {
    get async throws { try await Browser("http://127.0.0.1:\(port)").get("/metrics").text }
  }

  /// The bytes that all event loops of the gateway buffer.
  var bufferedBytes: Int {
    get async { await server.loops.gather { $0.bufferedBytes }.reduce(0, +) }
  }

  /// The same service through another gateway.
  func through(_ server: GatewayServer, on port: Int) -> SocketGateway {
    SocketGateway(service: service, server: server, stack: stack, serviceAddresses: serviceAddresses, port: port)
  }

  /// The number of WebSockets that count.
  var counted: Int { server.state.socketLimits.open }
}

extension RawConnection {
  /// The head of the first response.
  var head: String {
    String(String(decoding: bytes.prefix(4096), as: UTF8.self).components(separatedBy: "\r\n\r\n")[0])
  }

  /// The bytes after the head of the first response.
  var tunneled: [UInt8] {
    let bytes = bytes
    return bytes.firstRange(of: Array("\r\n\r\n".utf8)).map { Array(bytes[$0.upperBound...]) } ?? []
  }
}

func withSocketGateway(
  _ overrides: [String: String] = [:], tunnel: TunnelTimeouts = TunnelTimeouts(),
  _ body: (SocketGateway) async throws -> Void
) async throws {
  let service = SocketService()
  try await withStack(.sqlite) { stack in
    try await running([service]) {
      let own = ServiceAddresses(Settings([:]))
      for service in own.configured { own.set(service, to: []) }
      own.set(.auth, to: stack.auth.base)
      own.set(.credits, to: ["http://127.0.0.1:\(try await service.listening.number)"])
      let settings = stack.dependencies(of: "gateway").settings.overlaid(overrides)
      let server = try buildGateway(
        Dependencies(settings, serviceAddresses: own, logger: quiet), routes: SocketGateway.routes,
        timeouts: Timeouts(tunnel: tunnel))
      try await running([server]) {
        let port = try await server.port.number
        if overrides["TLS_CERTIFICATE"] == nil {
          try await eventually("readiness") {
            try await Browser("http://127.0.0.1:\(port)").get("/health/ready").status == 200
          }
        }
        try await body(
          SocketGateway(
            service: service, server: server, stack: stack, serviceAddresses: own, port: port))
      }
    }
  }
}
