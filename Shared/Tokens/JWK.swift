import Crypto
import CryptoExtras
import Foundation

/// A JSON Web Key (RFC 7517). Only public RSA and P-256 keys for signatures are supported.
package struct JWK: Codable, Sendable {
  package var kty: String
  package var kid: String?
  package var use: String?
  package var alg: String?
  package var crv: String?
  package var x: String?
  package var y: String?
  package var n: String?
  package var e: String?

  package init(_ key: P256.Signing.PublicKey) {
    let raw = Array(key.rawRepresentation)
    kty = "EC"
    crv = "P-256"
    x = Base64URL.encode(raw[..<32])
    y = Base64URL.encode(raw[32...])
    use = "sig"
    alg = "ES256"
  }

  package init(_ key: _RSA.Signing.PublicKey, id: String) throws {
    let primitives = try key.getKeyPrimitives()
    kty = "RSA"
    kid = id
    use = "sig"
    alg = "RS256"
    n = Base64URL.encode(primitives.modulus)
    e = Base64URL.encode(primitives.publicExponent)
  }

  /// The thumbprint of RFC 7638 §3, the key id of keys that have no other.
  package var thumbprint: String {
    let members =
      kty == "EC"
      ? #"{"crv":"\#(crv ?? "")","kty":"EC","x":"\#(x ?? "")","y":"\#(y ?? "")"}"#
      : #"{"e":"\#(e ?? "")","kty":"RSA","n":"\#(n ?? "")"}"#
    return Base64URL.encode(SHA256.hash(data: Data(members.utf8)))
  }

  /// The key with the one algorithm of its type. nil when it is not for signatures, names another algorithm, or is an
  /// RSA key under 2048 bits.
  package var verifying: VerifyingKey? {
    guard use == nil || use == "sig" else { return nil }
    switch (kty, crv, alg) {
    case ("EC", "P-256", nil), ("EC", "P-256", "ES256"):
      guard let x = x.flatMap({ Base64URL.decode($0.utf8) }), let y = y.flatMap({ Base64URL.decode($0.utf8) }),
        // `try?`: a point that is not on the curve is not a key.
        let key = try? P256.Signing.PublicKey(rawRepresentation: x + y)
      else { return nil }
      return .es256(key)
    case ("RSA", _, nil), ("RSA", _, "RS256"):
      guard let n = n.flatMap({ Base64URL.decode($0.utf8) }), let e = e.flatMap({ Base64URL.decode($0.utf8) }),
        n.drop(while: { $0 == 0 }).count >= 256, let key = try? _RSA.Signing.PublicKey(n: n, e: e)
      else { return nil }
      return .rs256(key)
    default: return nil
    }
  }
}

/// A JSON Web Key Set (RFC 7517 §5). Keys that are not supported are skipped, as §5 requires.
package struct JWKS: Codable, Sendable {
  package var keys: [JWK]

  package init(keys: [JWK]) { self.keys = keys }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    var list = try container.nestedUnkeyedContainer(forKey: .keys)
    keys = []
    while !list.isAtEnd {
      // `try?`: an invalid entry is skipped. `superDecoder` advances past an entry of any kind.
      if let key = try? JWK(from: list.superDecoder()) { keys.append(key) }
    }
  }

  package var byID: [String: VerifyingKey] {
    var found: [String: VerifyingKey] = [:]
    for key in keys {
      if let id = key.kid, let verifying = key.verifying { found[id] = verifying }
    }
    return found
  }
}
