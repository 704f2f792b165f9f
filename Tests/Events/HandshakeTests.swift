import Foundation
import NIOHTTP1
import Testing
import Web

@testable import Events

/// What is read from the request for a socket.
@Suite struct HandshakeTests {
  private static let keys = Result {
    try ServiceKeys(Settings(["SERVICE_KEYS": "gateway:key of the gateway,lists:key of lists"]))
  }

  private func handshake(_ query: String = "", _ headers: KeyValuePairs<String, String> = [:]) throws -> Handshake {
    var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/realtime/v1/websocket\(query)")
    for (name, value) in headers { head.headers.add(name: name, value: value) }
    return try Handshake(head, from: "10.0.0.7", trusting: Self.keys.get())
  }

  /// Otherwise all users behind a gateway would share the bound of one address, or choose their own.
  @Test func onlyTheGatewaySaysWhoseAddressItIs() throws {
    let forwarded = "203.0.113.9, 198.51.100.4"
    for (key, address) in [
      ("key of the gateway", "198.51.100.4"), ("key of lists", "10.0.0.7"), ("a guess", "10.0.0.7"),
    ] {
      let found = try handshake("", ["X-Service-Key": key, "X-Forwarded-For": forwarded])
      #expect(found.address == address, "\(key)")
    }
    #expect(try handshake("", ["X-Forwarded-For": forwarded]).address == "10.0.0.7")
    #expect(try handshake("", ["X-Service-Key": "key of the gateway"]).address == "10.0.0.7")
  }

  @Test func aClientThatSaysNoVersionSpeaksTheFirst() throws {
    #expect(try handshake("?apikey=anon").version == .v1)
    #expect(try handshake("?vsn=1.0.0").version == .v1)
    #expect(try handshake("?vsn=2.0.0").version == .v2)
    #expect(throws: HandshakeRefusal.self) { try handshake("?vsn=3.0.0") }
  }

  @Test func aTokenMayBeInThreePlaces() throws {
    #expect(try handshake("?apikey=a.b.c").token == "a.b.c")
    #expect(try handshake("", ["apikey": "a.b.c"]).token == "a.b.c")
    #expect(try handshake("?apikey=anon", ["Authorization": "Bearer d.e.f"]).token == "d.e.f")
    #expect(try handshake("?apikey=anon").token == nil)
  }
}
