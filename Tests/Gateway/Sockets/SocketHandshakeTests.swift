import Support
import Testing

@testable import Gateway

/// Opening handshakes that are refused, beside one that is not.
@Suite struct SocketHandshakeTests {
  private struct Refused: Sendable {
    let name: String
    let lines: [String]
    let status: Int
    var start = "GET /socket?echo HTTP/1.1"
  }

  private static let good = SocketHandshake.lines

  private static func replacing(_ index: Int, _ line: String?, _ name: String, _ status: Int = 400) -> Refused {
    var lines = good
    lines[index] = line ?? ""
    return Refused(name: name, lines: lines.filter { !$0.isEmpty }, status: status)
  }

  private static func adding(_ line: String, _ name: String) -> Refused {
    Refused(name: name, lines: good + [line], status: 400)
  }

  private static let refused: [Refused] =
    [
      replacing(1, nil, "no Upgrade", 426), replacing(1, "Upgrade: h2c", "another protocol"),
      replacing(1, "Upgrade: websocket, h2c", "two protocols"),
      replacing(1, "Upgrade: websocket/13", "a version there"),
      adding("Upgrade: websocket", "Upgrade twice"),
      replacing(2, nil, "no Connection"), replacing(2, "Connection: keep-alive", "a Connection without Upgrade"),
      replacing(2, "Connection: Upgrade, close", "a Connection that closes"),
      replacing(2, "Connection: Upgrade, Sec-WebSocket-Key", "a Connection that names the key"),
      adding("Connection: Upgrade", "Connection twice"),
      replacing(3, nil, "no version"), replacing(3, "Sec-WebSocket-Version: 8", "an old version", 426),
      replacing(3, "Sec-WebSocket-Version: 13, 8", "two versions", 426),
      replacing(3, "Sec-WebSocket-Version: 013", "a version in three digits", 426),
      adding("Sec-WebSocket-Version: 13", "the version twice"),
      replacing(4, nil, "no key"), adding("Sec-WebSocket-Key: \(SocketHandshake.key)", "the key twice"),
      replacing(0, nil, "no Host"), adding("Content-Length: 1", "a body"), adding("X_User_ID: 1", "an underscore"),
      Refused(name: "HTTP/1.0", lines: good, status: 400, start: "GET /socket?echo HTTP/1.0"),
      Refused(name: "a HEAD", lines: good, status: 400, start: "HEAD /socket?echo HTTP/1.1"),
      Refused(name: "a POST", lines: good + ["Content-Length: 0"], status: 501, start: "POST /socket?echo HTTP/1.1"),
      Refused(name: "another path", lines: good, status: 501, start: "GET /echo HTTP/1.1"),
      Refused(name: "an unknown path", lines: good, status: 501, start: "GET /nowhere HTTP/1.1"),
    ]
    + [
      "", "dGhlIHNhbXBsZSBub25jZQ=", "dGhlIHNhbXBsZSBub25jZQ", "dGhlIHNhbXBsZSBub25jZR==", "dGhlIHNhbXBsZSBub25jZ-==",
      "dGhlIHNhbXBsZSBub25jZQ==, x", "AAAAAAAAAAAAAAAAAAAAAAAA", "=hlIHNhbXBsZSBub25jZQQ==",
    ].map { replacing(4, "Sec-WebSocket-Key: \($0)", "the key \($0.debugDescription)") }

  @Test func eachThingThatIsMissingOrWrongIsRefused() async throws {
    try await withSocketGateway(["RATE_LIMIT": "1000"]) { gateway in
      for request in Self.refused {
        let raw = try await RawConnection(port: gateway.port)
        try await raw.send("\(request.start)\r\n\(request.lines.map { $0 + "\r\n" }.joined())\r\n")
        try await eventually("a response to \(request.name)") { try await raw.received().contains("\r\n\r\n") }
        #expect(raw.head.hasPrefix("HTTP/1.1 \(request.status) "), "\(request.name): \(raw.head)")
        let isUpgrade = raw.head.contains("\r\nupgrade: websocket\r\n") && raw.head.contains("\r\nconnection: Upgrade")
        #expect((request.status == 426) == isUpgrade, "\(request.name)")
        #expect((request.status == 426) == raw.head.contains("\r\nsec-websocket-version: 13\r\n"), "\(request.name)")
        if request.name != "no Upgrade" { _ = try await raw.untilClosed() }
        raw.close()
      }
      #expect(gateway.service.heads.isEmpty)
      #expect(gateway.counted == 0)
      // The premise: the same without a fault is not refused, in any case and with other options.
      try await gateway.open().close()
      let raw = try await RawConnection(port: gateway.port)
      let loud = ["HOST: x", "UPGRADE: WebSocket", "CONNECTION: keep-alive, UPGRADE"] + Self.good[3...]
      try await raw.send(SocketHandshake.head(lines: loud))
      try await eventually("the switch") { try await raw.received().contains("HTTP/1.1 101 ") }
      raw.close()
    }
  }
}
