import HTTPTypes
import Hummingbird
import Testing

@testable import Web

/// Client addresses as keys of rate limits.
@Suite struct ClientAddressTests {
  private func clientAddress(_ forwarded: String?) -> String {
    var head = HTTPRequest(method: .get, scheme: "http", authority: "kith", path: "/")
    head.headerFields[.forwardedFor] = forwarded
    return Request(head: head, body: .init(buffer: .init())).clientAddress
  }

  @Test func aHouseholdIsOneAddressHoweverItsAddressesAreWritten() {
    // RFC 5952 shortens the longest run of zeros.
    let home = [
      "2001:db8::a:b:c:d", "2001:db8::1", "2001:DB8:0:0:ffff::", "2001:0db8:0000:0000:1:2:3:4", "10.0.0.1, 2001:db8::2",
    ]
    #expect(Set(home.map { clientAddress($0) }).count == 1)
    let others = ["2001:db8:0:1::1", "2001:db8:1::a:b:c:d", "2001:db9::a:b:c:d", "fe80::1", "::1"]
    #expect(Set((others + home).map { clientAddress($0) }).count == others.count + 1)
  }

  @Test func anIPv4AddressIsAnAddressOfItsOwn() {
    #expect(clientAddress("192.0.2.1") == "192.0.2.1" && clientAddress("::ffff:192.0.2.1") == "192.0.2.1")
    #expect(clientAddress("::ffff:192.0.2.2") == "192.0.2.2")
    #expect(clientAddress(nil) == "direct" && clientAddress("a:b") == "a:b")
  }
}
