import Crypto
import Foundation
import Synchronization

/// The keys of our access tokens in one process: one that signs, and all that are believed. They can be replaced while
/// tokens are signed and checked.
package final class KeyRing: Sendable {
  package struct Keys: Sendable {
    /// nil in a process that only believes what auth has signed.
    package let signing: SigningKey?
    fileprivate let believed: [String: VerifyingKey]
    /// What others may know: public keys only.
    package let published: JWKS

    /// - Parameters:
    ///   - signing: also believed.
    ///   - secrets: HS256 keys that are believed.
    ///   - publicKeys: ES256 keys that are believed, and published as long as they are here.
    package init(signing: SigningKey?, secrets: [SigningKey] = [], publicKeys: [P256.Signing.PublicKey] = []) {
      self.signing = signing
      var (believed, published): ([String: VerifyingKey], [JWK]) = ([:], [])
      for key in secrets { believed[key.id] = key.verifying }
      for key in publicKeys {
        var jwk = JWK(key)
        jwk.kid = jwk.thumbprint
        guard believed.updateValue(.es256(key), forKey: jwk.thumbprint) == nil else { continue }
        published.append(jwk)
      }
      if let signing { believed[signing.id] = signing.verifying }
      self.believed = believed
      self.published = JWKS(keys: published)
    }
  }

  private let keys: Mutex<Keys>
  private let changes = Atomic(0)

  package init(_ keys: Keys) { self.keys = Mutex(keys) }

  package var current: Keys { keys.withLock { $0 } }

  /// Changes with every replacement, so that whoever remembers verdicts can forget them.
  package var version: Int { changes.load(ordering: .acquiring) }

  package func replace(with keys: Keys) {
    self.keys.withLock { $0 = keys }
    changes.add(1, ordering: .releasing)
  }

  func key(_ id: String) -> VerifyingKey? { keys.withLock { $0.believed[id] } }
}
