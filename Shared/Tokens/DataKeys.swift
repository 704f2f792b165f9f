import Crypto
import Foundation

/// The keys of encrypted and hashed columns (`DATA_KEYS`): the first encrypts and hashes, all of them decrypt and
/// match.
package struct DataKeys: Sendable {
  private let first: String
  private let secrets: [String]

  /// nil when `secrets` is empty.
  package init?(_ secrets: [String]) {
    guard let first = secrets.first else { return nil }
    self.first = first
    self.secrets = secrets
  }

  package func seal(_ plain: Data, purpose: String) throws -> [UInt8] {
    try SecretBox.seal(plain, under: first, purpose: purpose)
  }

  /// - Throws: `CryptoKitError` when no key has sealed these bytes for this purpose.
  package func open(_ sealed: [UInt8], purpose: String) throws -> Data {
    for secret in secrets.dropLast() {
      // `try?`: when one key fails the next is tried.
      if let plain = try? SecretBox.open(sealed, under: secret, purpose: purpose) { return plain }
    }
    return try SecretBox.open(sealed, under: secrets.last ?? first, purpose: purpose)
  }

  /// The HMAC-SHA256 of `data` under every key, in their order: new rows have the first, old rows any of them.
  package func digests(of data: Data, purpose: String) -> [[UInt8]] { digester(for: purpose).digests(of: data) }

  /// Derives the keys of a purpose once, for many digests.
  package func digester(for purpose: String) -> Digester {
    Digester(
      keyed: secrets.map { secret in
        let key = HKDF<SHA256>.deriveKey(
          inputKeyMaterial: SymmetricKey(data: Data(secret.utf8)), info: Data(purpose.utf8), outputByteCount: 32)
        return HMAC<SHA256>(key: key)
      })
  }

  /// Computes digests with keys that were derived for one purpose.
  package struct Digester: Sendable {
    /// Each has its key already, which is half of the work of a short digest.
    fileprivate let keyed: [HMAC<SHA256>]

    /// As ``DataKeys/digests(of:purpose:)``.
    package func digests(of data: Data) -> [[UInt8]] {
      keyed.map { keyed in
        var code = keyed
        code.update(data: data)
        return Array(code.finalize())
      }
    }
  }
}
