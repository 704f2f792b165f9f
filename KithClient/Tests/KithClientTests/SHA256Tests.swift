import Foundation
import Testing

@testable import KithClient

/// The hash of the nonce, against the examples of FIPS 180-4.
@Suite struct SHA256Tests {
  @Test(arguments: [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
  ])
  func theHashIsThatOfTheStandard(text: String, hash: String) {
    #expect(SHA256Digest.hex(of: Data(text.utf8)) == hash)
    #expect(AppleNonce(raw: text).hash == hash)
  }

  @Test func aMillionLettersToo() {
    let hash = SHA256Digest.hex(of: Data(repeating: UInt8(ascii: "a"), count: 1_000_000))
    #expect(hash == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
  }

  @Test func noTwoNoncesAreTheSame() {
    let nonces = Set((0..<100).map { _ in AppleNonce().raw })
    #expect(nonces.count == 100 && nonces.allSatisfy { $0.count == 64 })
  }
}
