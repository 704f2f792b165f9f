import Testing
import Wire

@testable import Auth

/// Parsing of typed e-mail addresses.
@Suite struct EmailAddressTests {
  @Test(arguments: [
    ("alice@example.com", "alice@example.com"), (" Alice@Example.COM\n", "alice@example.com"),
    ("o'hara+kith@mail.example.com", "o'hara+kith@mail.example.com"), ("a.b_c-d=e@x1.io", "a.b_c-d=e@x1.io"),
    ("alice@localhost", "alice@localhost"), (".alice..b.@example.com", ".alice..b.@example.com"),
    ("alice@bücher.example", "alice@xn--bcher-kva.example"),
    ("alice@BU\u{308}CHER.example", "alice@xn--bcher-kva.example"),
    ("alice@xn--bcher-kva.example", "alice@xn--bcher-kva.example"), ("alice@例え.jp", "alice@xn--r8jz45g.jp"),
  ])
  func anAddressHasOneFormByWhichItIsCompared(typed: String, canonical: String) throws {
    #expect(try #require(EmailAddress(typed)).canonical == canonical)
  }

  @Test(arguments: [
    "", "@", "alice", "alice@", "@example.com", "alice@@example.com", "alice@bob@example.com", "al ice@example.com",
    "alice@exam ple.com", "alice@-example.com", "alice@example-.com", "alice@example..com", "alice@.com",
    "alice@example.com.", "alice@exa_mple.com", "alice@[127.0.0.1]", "älice@example.com", "\"alice\"@example.com",
    "alice@example.com\r\nBcc: bob@example.com", "alice@example.com, bob@example.com", "<alice@example.com>",
    "alice\u{0}@example.com", "alice@exämple.com/x", "alice@ü[", "alice@ü:80", "alice@ü%41.com", "alice@\u{301}",
    String(repeating: "a", count: 65) + "@example.com", "a@" + String(repeating: "b", count: 64) + ".com",
    "a@" + String(repeating: "bbbbbbbbb.", count: 26) + "com", "a@" + String(repeating: "ü.", count: 80) + "com",
  ])
  func whatNoBrowserWouldTakeIsRefused(typed: String) {
    #expect(EmailAddress(typed) == nil)
    let failure = #expect(throws: Failure.self) { try EmailAddress.required(typed, field: "email") }
    #expect(failure?.fields.map(\.field) == ["email"])
  }

  @Test func theLongestAddressIsTakenAndOneByteMoreIsNot() {
    let labels = String(repeating: "b", count: 60) + "."
    let domain = labels + labels + labels + String(repeating: "c", count: 254 - 2 - 183)
    #expect(EmailAddress("a@" + labels + labels + labels + "cc") != nil)
    #expect(domain.utf8.count == 252)
    let longest = "a@" + labels + labels + labels + "ccc." + String(repeating: "d", count: 63) + ".e"
    #expect(longest.utf8.count == 254)
    #expect(EmailAddress(longest) != nil)
    #expect(EmailAddress("a" + longest) == nil)
  }

  @Test func noTextThatIsMadeOfItTellsIt() throws {
    let address = try #require(EmailAddress("alice@example.com"))
    #expect(address.masked == "a***@***.com")
    for text in ["\(address)", String(reflecting: address), "\([address])"] {
      #expect(!text.contains("alice"))
      #expect(!text.contains("example"))
    }
    #expect(EmailAddress("alice@localhost")?.masked == "a***@***")
  }
}
