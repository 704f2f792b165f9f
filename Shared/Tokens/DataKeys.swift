import Crypto
import Foundation

/// The keys of what rests in the database (`DATA_KEYS`): the first seals and hashes, all of them open and recognise.
package struct DataKeys: Sendable {
  private let first: String
  private let secrets: [String]

  /// nil without any secret.
  package init?(_ secrets: [String]) {
    guard let first = secrets.first else { return nil }
    self.first = first
    self.secrets = secrets
  }

  package func seal(_ plain: Data, purpose: String) throws -> [UInt8] {
    try Seal.seal(plain, under: first, purpose: purpose)
  }

  /// - Throws: `CryptoKitError` when none of the keys has sealed this for this purpose.
  package func open(_ sealed: [UInt8], purpose: String) throws -> Data {
    for secret in secrets.dropLast() {
      // `try?`: one key's refusal means only that another has to be tried.
      if let plain = try? Seal.open(sealed, under: secret, purpose: purpose) { return plain }
    }
    return try Seal.open(sealed, under: secrets.last ?? first, purpose: purpose)
  }

  /// The HMAC-SHA256 of `data` under every key, the first key's first: new rows hold that one, old rows any of them.
  package func digests(of data: Data, purpose: String) -> [[UInt8]] { digester(for: purpose).digests(of: data) }

  /// For many digests of one purpose: the keys are derived once.
  package func digester(for purpose: String) -> Digester {
    Digester(
      keys: secrets.map { secret in
        HKDF<SHA256>.deriveKey(
          inputKeyMaterial: SymmetricKey(data: Data(secret.utf8)), info: Data(purpose.utf8), outputByteCount: 32)
      })
  }

  package struct Digester: Sendable {
    fileprivate let keys: [SymmetricKey]

    /// As ``DataKeys/digests(of:purpose:)``.
    package func digests(of data: Data) -> [[UInt8]] {
      keys.map { Array(HMAC<SHA256>.authenticationCode(for: data, using: $0)) }
    }
  }
}
