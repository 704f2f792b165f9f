import HTTPTypes
import Hummingbird
import Testing

@testable import Web

/// From where somebody asks, as far as it is counted.
@Suite struct PlaceTests {
  private func place(_ forwarded: String?) -> String {
    var head = HTTPRequest(method: .get, scheme: "http", authority: "kith", path: "/")
    head.headerFields[.forwardedFor] = forwarded
    return Request(head: head, body: .init(buffer: .init())).place
  }

  @Test func aHouseholdIsOnePlaceHoweverItsAddressesAreWritten() {
    // RFC 5952 shortens whichever zeros are most.
    let home = [
      "2001:db8::a:b:c:d", "2001:db8::1", "2001:DB8:0:0:ffff::", "2001:0db8:0000:0000:1:2:3:4", "10.0.0.1, 2001:db8::2",
    ]
    #expect(Set(home.map { place($0) }).count == 1)
    let others = ["2001:db8:0:1::1", "2001:db8:1::a:b:c:d", "2001:db9::a:b:c:d", "fe80::1", "::1"]
    #expect(Set((others + home).map { place($0) }).count == others.count + 1)
  }

  @Test func anIPv4AddressIsAPlaceOfItsOwn() {
    #expect(place("192.0.2.1") == "192.0.2.1" && place("::ffff:192.0.2.1") == "192.0.2.1")
    #expect(place("::ffff:192.0.2.2") == "192.0.2.2")
    #expect(place(nil) == "direct" && place("a:b") == "a:b")
  }
}
