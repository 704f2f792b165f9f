import Crypto
import Foundation
import Synchronization

/// The keys of access tokens in one process: the signing key and all verifying keys. They can be replaced while tokens
/// are signed and verified.
package final class KeyRing: Sendable {
  /// The keys that are in use at one time.
  package struct Keys: Sendable {
    /// nil in a process that only verifies.
    package let signing: SigningKey?
    /// By key id.
    fileprivate let verifying: [String: VerifyingKey]
    /// The public keys, for `/.well-known/jwks.json`.
    package let published: JWKS

    /// - Parameters:
    ///   - signing: the signing key, which also verifies.
    ///   - secrets: further HS256 keys that verify.
    ///   - publicKeys: further ES256 keys that verify and are published.
    package init(signing: SigningKey?, secrets: [SigningKey] = [], publicKeys: [P256.Signing.PublicKey] = []) {
      self.signing = signing
      var (verifying, published): ([String: VerifyingKey], [JWK]) = ([:], [])
      for key in secrets { verifying[key.id] = key.verifying }
      for key in publicKeys {
        var jwk = JWK(key)
        jwk.kid = jwk.thumbprint
        guard verifying.updateValue(.es256(key), forKey: jwk.thumbprint) == nil else { continue }
        published.append(jwk)
      }
      if let signing { verifying[signing.id] = signing.verifying }
      self.verifying = verifying
      self.published = JWKS(keys: published)
    }
  }

  private let keys: Mutex<Keys>
  private let changes = Atomic(0)

  package init(_ keys: Keys) { self.keys = Mutex(keys) }

  package var current: Keys { keys.withLock { $0 } }

  /// Changes with every replacement, so that cached results can be discarded.
  package var version: Int { changes.load(ordering: .acquiring) }

  package func replace(with keys: Keys) {
    self.keys.withLock { $0 = keys }
    changes.add(1, ordering: .releasing)
  }

  func key(_ id: String) -> VerifyingKey? { keys.withLock { $0.verifying[id] } }
}
