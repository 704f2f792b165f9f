import Crypto
import Foundation
import Tokens
import Wire

/// A PKCE code challenge: the SHA-256 of a code verifier that only the app has (RFC 7636 §4.2); `plain` is not
/// accepted.
struct PKCECodeChallenge: Codable, Sendable {
  private let hash: [UInt8]

  /// - Throws: the validation failure for another method, or for a value that is not a SHA-256 in base64url.
  init(_ text: String, method: String?) throws(Failure) {
    guard method?.lowercased() == "s256" else { throw .invalid(.init("code_challenge_method", "must be s256")) }
    guard let hash = Base64URL.decode(Array(text.utf8)), hash.count == SHA256.byteCount else {
      throw .invalid(.init("code_challenge", "must be a SHA-256 in base64url"))
    }
    self.hash = hash
  }

  /// Whether the challenge was made from `verifier` (RFC 7636 §4.6).
  func matches(_ verifier: String) -> Bool {
    (1...128).contains(verifier.utf8.count) && SHA256.hash(data: Data(verifier.utf8)) == Data(hash)
  }
}
