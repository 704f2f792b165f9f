import Foundation

/// The nonce of a Sign in with Apple: the request to Apple carries the hash, the server is sent the raw one, and so a
/// token that was stolen from another sign-in is of no use.
public struct AppleNonce: Sendable, Equatable {
  /// For ``Auth/signInWithApple(identityToken:nonce:authorizationCode:name:)``.
  public let raw: String
  /// For `ASAuthorizationAppleIDRequest.nonce`: SHA-256 in hex.
  public let hash: String

  /// 256 random bits.
  public init() {
    var generator = SystemRandomNumberGenerator()
    self.init(raw: (0..<4).map { _ in Self.hex(generator.next()) }.joined())
  }

  init(raw: String) {
    self.raw = raw
    hash = SHA256Digest.hex(of: Data(raw.utf8))
  }

  private static func hex(_ number: UInt64) -> String {
    let text = String(number, radix: 16)
    return String(repeating: "0", count: 16 - text.count) + text
  }
}
