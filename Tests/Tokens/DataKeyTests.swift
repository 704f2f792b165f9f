import Crypto
import Foundation
import Testing
import Tokens

@Suite struct DataKeyTests {
  @Test func digestsAreHMACsUnderEachKeyInItsOrder() throws {
    let secrets = ["the first secret", "the second secret"]
    let digester = try #require(DataKeys(secrets)).digester(for: "a purpose")
    for text in ["", "text", String(repeating: "long ", count: 1000), "text"] {
      let expected = secrets.map { secret in
        let key = HKDF<SHA256>.deriveKey(
          inputKeyMaterial: SymmetricKey(data: Data(secret.utf8)), info: Data("a purpose".utf8), outputByteCount: 32)
        return Array(HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: key))
      }
      #expect(digester.digests(of: Data(text.utf8)) == expected)
    }
  }

  /// Many requests check links at the same time.
  @Test func digestsMayBeMadeAtTheSameTime() async throws {
    let digester = try #require(DataKeys(["a secret"])).digester(for: "a purpose")
    let texts = (0..<200).map { Data("text \($0)".utf8) }
    let expected = texts.map { digester.digests(of: $0) }
    await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<8 { group.addTask { texts.map { digester.digests(of: $0) } == expected } }
      for await isSame in group { #expect(isSame) }
    }
  }
}
