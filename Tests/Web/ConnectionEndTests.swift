import Foundation
import NIOCore
import Support
import Testing

@testable import Web

/// How a service's connections end: by a deadline, by the client, and with the service.
@Suite struct ConnectionEndTests {
  private static let get = "GET /echo HTTP/1.1\r\nHost: a\r\n\r\n"

  @Test(arguments: Transport.allCases) func silentAndDrippingConnectionsEnd(_ transport: Transport) async throws {
    try await withEchoServer(ConnectionTimeouts(idle: .milliseconds(400)), over: transport) { server in
      let silent = try await server.connect()
      #expect(try await silent.untilClosed() == "")
    }
    // A head that a busy machine sends late is not taken for silence.
    try await withEchoServer(ConnectionTimeouts(head: .milliseconds(300), body: .milliseconds(300)), over: transport) {
      server in
      let body = try await server.connect()
      try await body.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nabc")
      #expect(try await body.untilClosed().hasPrefix("HTTP/1.1 408 "))
      let dripping = try await server.connect()
      await #expect(throws: (any Error).self) {
        for _ in 0..<2000 {
          try await dripping.send("G")
          try await Task.sleep(for: .milliseconds(20))
          _ = try await dripping.received()
        }
      }
      #expect(server.count == 0)
    }
  }

  /// It may wait for its client to take more.
  @Test(arguments: Transport.allCases) func whoGoesWithoutHavingReadEndsItsRequest(_ transport: Transport) async throws
  {
    try await withEchoServer(over: transport) { server in
      let connection = try await server.connect(receiveBytes: 8 * 1024)
      try await connection.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
      try await eventually("the request") { server.count == 1 }
      try await Task.sleep(for: .milliseconds(300))
      connection.close()
      try await eventually("the end of the request", within: .seconds(20)) { server.cutCount == 1 }
    }
  }

  @Test(arguments: Transport.allCases) func aRequestThatIsBrokenOffFails(_ transport: Transport) async throws {
    try await withEchoServer(over: transport) { server in
      let connection = try await server.connect()
      try await connection.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 20000\r\n\r\nabc")
      try await eventually("the request") { server.count == 1 }
      try await connection.endOutput()
      #expect(try await connection.untilClosed().hasPrefix("HTTP/1.1 400 "))
    }
  }

  @Test(arguments: Transport.allCases) func aStopEndsIdleConnectionsAtOnceAndOthersAfterTheirResponse(
    _ transport: Transport
  ) async throws {
    let (idle, busy) = try await withEchoServer(over: transport) { server in
      let idle = try await server.connect()
      try await idle.send(Self.get)
      try await eventually("the response") { try await idle.received().hasSuffix("GET /echo 0") }
      let busy = try await server.connect()
      try await busy.send("GET /held HTTP/1.1\r\nHost: a\r\n\r\n")
      try await eventually("the request") { server.count == 2 }
      let ended = Task {
        // The response may begin once the stop has, whenever that is.
        defer { server.goOn.send() }
        return try await idle.untilClosed()
      }
      return (ended, busy)
    }
    #expect(try await idle.value.hasSuffix("GET /echo 0"))
    let text = try await busy.untilClosed()
    #expect(text.hasSuffix("GET /held 0") && text.contains("connection: close"))
  }
}
