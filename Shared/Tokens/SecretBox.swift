import Crypto
import Foundation

/// Encryption under a key derived from a secret: ChaCha20-Poly1305 (RFC 8439) with HKDF (RFC 5869).
package enum SecretBox {
  /// - Parameter purpose: part of the key derivation: bytes sealed for one purpose cannot be opened for another.
  package static func seal(_ plain: Data, under secret: String, purpose: String) throws -> [UInt8] {
    Array(try ChaChaPoly.seal(plain, using: key(secret, purpose)).combined)
  }

  /// - Throws: `CryptoKitError` when the bytes were not sealed under this secret for this purpose.
  package static func open(_ sealed: [UInt8], under secret: String, purpose: String) throws -> Data {
    try ChaChaPoly.open(ChaChaPoly.SealedBox(combined: sealed), using: key(secret, purpose))
  }

  private static func key(_ secret: String, _ purpose: String) -> SymmetricKey {
    HKDF<SHA256>.deriveKey(
      inputKeyMaterial: SymmetricKey(data: Data(secret.utf8)), info: Data(purpose.utf8), outputByteCount: 32)
  }
}
