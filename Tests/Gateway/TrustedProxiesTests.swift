import Gateway
import NIOCore
import Testing
import Web

/// The client address of a request, with true and forged forwarding headers.
@Suite struct TrustedProxiesTests {
  @Test(arguments: [
    ("192.0.2.1", "192.0.2.1"), ("0.0.0.0", "0.0.0.0"), ("255.255.255.255", "255.255.255.255"), ("::", "::"),
    ("::1", "::1"), ("2001:DB8:0:0::1", "2001:db8::1"), ("::ffff:192.0.2.1", "192.0.2.1"),
    ("::ffff:c000:201", "192.0.2.1"), ("64:ff9b::192.0.2.1", "64:ff9b::c000:201"),
    ("1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"), ("ffff:0:0:0:0:ffff:255.255.255.255", "ffff::ffff:ffff:ffff"),
    ("1111:2222:3333:4444:5555:6666:123.123.123.123", "1111:2222:3333:4444:5555:6666:7b7b:7b7b"),
  ])
  func addressesAreWrittenAsEverybodyWritesThem(text: String, canonical: String) throws {
    let address = try #require(IPAddress(text))
    #expect(address.description == canonical)
    #expect(IPAddress(address.description) == address)
  }

  @Test(arguments: [
    "", "1", "1.2.3", "1.2.3.4.5", "1.2.3.256", "01.2.3.4", "1.2.3.4 ", " 1.2.3.4", "1.2.3.4:80", "0x1.2.3.4", ":",
    ":::", "1::2::3", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "12345::", "g::", "::1%lo", "[::1]", "fe80::1%25eth0",
    "unknown", "localhost", "1.2.3.4\0", "::1\0", "::1\0xyz", "1.2.3.4\n", "१.२.३.४",
    "1111:2222:3333:4444:5555:6666:123.123.123.1234",
  ])
  func whatIsNoAddressIsNone(text: String) { #expect(IPAddress(text) == nil) }

  @Test func socketsHaveAddresses() throws {
    let v4 = try SocketAddress(ipAddress: "192.0.2.7", port: 1)
    let v6 = try SocketAddress(ipAddress: "2001:db8::7", port: 1)
    let mapped = try SocketAddress(ipAddress: "::ffff:192.0.2.7", port: 1)
    #expect(IPAddress(v4)?.description == "192.0.2.7")
    #expect(IPAddress(v6)?.description == "2001:db8::7")
    #expect(IPAddress(mapped) == IPAddress(v4))
    #expect(IPAddress(try SocketAddress(unixDomainSocketPath: "/tmp/x")) == nil)
  }

  @Test(arguments: [
    ("10.0.0.0/8", ["10.0.0.0", "10.255.255.255", "::ffff:10.1.2.3"], ["9.255.255.255", "11.0.0.0", "::1", "::"]),
    ("192.0.2.1", ["192.0.2.1"], ["192.0.2.0", "192.0.2.2"]),
    ("192.0.2.128/25", ["192.0.2.128", "192.0.2.255"], ["192.0.2.127", "192.0.3.128"]),
    ("192.0.2.1/32", ["192.0.2.1"], ["192.0.2.2"]),
    ("0.0.0.0/0", ["0.0.0.0", "255.255.255.255"], ["::", "::1", "2001:db8::1"]),
    ("::1/128", ["::1"], ["::", "::2", "0.0.0.1", "127.0.0.1"]),
    ("::1", ["::1"], ["::2"]),
    ("fd00::/8", ["fd00::", "fdff:ffff::1"], ["fc00::1", "fe00::", "253.0.0.0"]),
    ("2001:db8:1:2::/64", ["2001:db8:1:2::", "2001:db8:1:2:ffff:ffff:ffff:ffff"], ["2001:db8:1:3::"]),
    ("2001:db8:1:2:8000::/65", ["2001:db8:1:2:8000::1"], ["2001:db8:1:2::1"]),
    ("2001:db8:1:2::/63", ["2001:db8:1:3::1"], ["2001:db8:1:4::1"]),
    ("::/0", ["::", "2001:db8::1"], ["10.0.0.1"]),
    ("::ffff:10.0.0.0/104", ["10.1.2.3"], ["11.0.0.0", "::1"]),
  ])
  func blocksHaveTheirOwnAndNoOthers(text: String, inside: [String], outside: [String]) throws {
    let block = try #require(CIDR(text))
    for address in inside { #expect(block.contains(try #require(IPAddress(address))), "\(address) is in \(text)") }
    for address in outside { #expect(!block.contains(try #require(IPAddress(address))), "\(address) not in \(text)") }
  }

  @Test(arguments: [
    "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/08", "10.0.0.0/", "10.0.0.0/8/8", "/8",
    "10.0.0/8", "10.0.0.1/8", "::1/129", "::1/127", "fd00::1/8", "::/00", "private", "10.0.0.0/٨",
    "10.0.0.0/99999999999999999999", "*",
  ])
  func aBadBlockStopsTheStartAndIsNamed(text: String) throws {
    let failure = #expect(throws: StartFailure.self) {
      try TrustedProxies(Settings(["TRUSTED_PROXIES": "127.0.0.1, \(text)"]))
    }
    #expect(failure?.description.hasPrefix("TRUSTED_PROXIES ") == true)
    #expect(failure?.description.contains("'\(text)'") == true)
  }

  private static let trusting = "10.0.0.0/8, 127.0.0.1, ::1, fd00::/8"

  private func client(_ peer: String, _ fields: [String], trusting: String = Self.trusting) throws -> String {
    let trusted = try TrustedProxies(Settings(["TRUSTED_PROXIES": trusting]))
    return trusted.client(peer: try #require(IPAddress(peer)), forwardedFor: fields).description
  }

  @Test(arguments: [
    // The header is ignored when the peer is not trusted.
    ("203.0.113.9", ["198.51.100.1"], "203.0.113.9"),
    ("203.0.113.9", ["10.0.0.1", "127.0.0.1"], "203.0.113.9"),
    ("10.0.0.1", [], "10.0.0.1"),
    ("10.0.0.1", [""], "10.0.0.1"),
    ("10.0.0.1", ["198.51.100.1"], "198.51.100.1"),
    // The entries of the client are to the left of the one that the proxy added.
    ("10.0.0.1", ["1.1.1.1, 198.51.100.1"], "198.51.100.1"),
    ("10.0.0.1", ["10.9.9.9, 198.51.100.1"], "198.51.100.1"),
    ("10.0.0.1", ["1.1.1.1", "198.51.100.1"], "198.51.100.1"),
    ("10.0.0.1", ["1.1.1.1, 127.0.0.1", "198.51.100.1, 10.2.2.2"], "198.51.100.1"),
    ("10.0.0.1", ["198.51.100.1, 10.2.2.2, fd00::7"], "198.51.100.1"),
    // All are trusted: the first entry is the client.
    ("10.0.0.1", ["10.3.3.3, 10.2.2.2"], "10.3.3.3"),
    // An invalid entry ends the search at the last valid one.
    ("10.0.0.1", ["198.51.100.1, unknown, 10.2.2.2"], "10.2.2.2"),
    ("10.0.0.1", ["198.51.100.1, _hidden"], "10.0.0.1"),
    ("10.0.0.1", ["198.51.100.1, 10.2.2.2:x"], "10.0.0.1"),
    ("10.0.0.1", ["198.51.100.1, 10.2.2.2:99999"], "10.0.0.1"),
    ("10.0.0.1", ["198.51.100.1, 10.2.2.2:"], "10.0.0.1"),
    ("10.0.0.1", ["198.51.100.1, [fd00::1"], "10.0.0.1"),
    ("10.0.0.1", ["198.51.100.1, [fd00::1]80"], "10.0.0.1"),
    ("10.0.0.1", ["198.51.100.1, [10.0.0.2]"], "10.0.0.1"),
    ("10.0.0.1", ["198.51.100.1, \"10.0.0.2\""], "10.0.0.1"),
    ("10.0.0.1", ["198.51.100.1 10.0.0.2"], "10.0.0.1"),
    // Ports, brackets, whitespace, empty elements.
    ("10.0.0.1", ["198.51.100.1:5678"], "198.51.100.1"),
    ("10.0.0.1", ["\t 198.51.100.1 \t,  10.2.2.2:1 "], "198.51.100.1"),
    ("10.0.0.1", [",, 198.51.100.1 ,, 10.2.2.2,,"], "198.51.100.1"),
    ("::1", ["[2001:db8::5]:80, [fd00::1]"], "2001:db8::5"),
    ("::1", ["2001:db8::5"], "2001:db8::5"),
    ("::ffff:127.0.0.1", ["::ffff:198.51.100.1"], "198.51.100.1"),
  ])
  func theClientIsTheFirstWhoIsNotTrusted(peer: String, fields: [String], client: String) throws {
    #expect(try self.client(peer, fields) == client)
    // Without trusted proxies it is always the peer.
    #expect(try self.client(peer, fields, trusting: "") == IPAddress(peer)?.description)
  }

  @Test func onlySoManyEntriesAreLookedAt() throws {
    let hops = Array(repeating: "10.2.2.2", count: 31)
    #expect(try client("10.0.0.1", [(["198.51.100.1"] + hops).joined(separator: ",")]) == "198.51.100.1")
    #expect(try client("10.0.0.1", ["198.51.100.1"] + hops) == "198.51.100.1")
    #expect(try client("10.0.0.1", ["198.51.100.1"] + hops + ["10.2.2.2"]) == "10.2.2.2")
    let commas = String(repeating: ",", count: 8000)
    #expect(try client("10.0.0.1", ["198.51.100.1" + commas]) == "10.0.0.1")
  }

  @Test func noBytesAreTooOddToRead() throws {
    let trusted = try TrustedProxies(Settings(["TRUSTED_PROXIES": "0.0.0.0/0, ::/0"]))
    let peer = try #require(IPAddress("10.0.0.1"))
    let pieces: [UInt8] = Array("0159.:[],ff \t%\0\u{7F}é".utf8)
    for _ in 0..<20_000 {
      let bytes = (0..<Int.random(in: 0...60)).map { _ in pieces.randomElement() ?? 0 }
      var walk = ForwardedForReader(from: peer, trusting: trusted)
      walk.read(bytes.span)
      #expect(IPAddress(walk.client.description) == walk.client)
    }
  }
}
