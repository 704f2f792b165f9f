import Crypto
import CryptoExtras
import Foundation

/// A key that verifies signatures. Every key has one algorithm, so a token cannot choose another (RFC 8725 §3.1).
package enum VerifyingKey: Sendable {
  case hs256(SymmetricKey)
  case es256(P256.Signing.PublicKey)
  case rs256(_RSA.Signing.PublicKey)

  package var algorithm: String {
    switch self {
    case .hs256: "HS256"
    case .es256: "ES256"
    case .rs256: "RS256"
    }
  }

  /// Whether both are the same public key; false for secrets.
  func isSame(as other: VerifyingKey) -> Bool {
    switch (self, other) {
    case (.es256(let key), .es256(let other)): key.rawRepresentation == other.rawRepresentation
    case (.rs256(let key), .rs256(let other)): key.derRepresentation == other.derRepresentation
    default: false
    }
  }

  /// Whether `signature` is this key's over `message` (RFC 7518 §3.2 to §3.4).
  package func isValid(_ signature: [UInt8], for message: some DataProtocol) -> Bool {
    switch self {
    case .hs256(let key):
      return HMAC<SHA256>.isValidAuthenticationCode(signature, authenticating: message, using: key)
    case .es256(let key):
      // `try?`: a signature that is not 64 bytes is not a signature.
      guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature) else { return false }
      return key.isValidSignature(signature, for: SHA256.hash(data: message))
    case .rs256(let key):
      let signature = _RSA.Signing.RSASignature(rawRepresentation: signature)
      return key.isValidSignature(signature, for: SHA256.hash(data: message), padding: .insecurePKCS1v1_5)
    }
  }
}

/// A key that signs access tokens.
package struct SigningKey: Sendable {
  package enum Secret: Sendable {
    case hs256(SymmetricKey)
    case es256(P256.Signing.PrivateKey)
  }

  package let id: String
  package let secret: Secret

  /// HS256 with the bytes of `secret`. The key id is an HMAC, which does not reveal the secret.
  package init(secret: String) {
    let key = SymmetricKey(data: Data(secret.utf8))
    let digest = HMAC<SHA256>.authenticationCode(for: Data("kith key id".utf8), using: key)
    self.id = Base64URL.encode(digest.prefix(9))
    self.secret = .hs256(key)
  }

  /// ES256 with a P-256 private key in PEM (SEC1 or PKCS #8).
  ///
  /// - Parameter id: a key id that another party has assigned; by default its thumbprint (RFC 7638).
  /// - Throws: `CryptoKitError` when the text is not such a key.
  package init(pem: String, id: String? = nil) throws {
    let key = try P256.Signing.PrivateKey(pemRepresentation: pem)
    self.id = id ?? JWK(key.publicKey).thumbprint
    self.secret = .es256(key)
  }

  package var algorithm: String { verifying.algorithm }

  package var verifying: VerifyingKey {
    switch secret {
    case .hs256(let key): .hs256(key)
    case .es256(let key): .es256(key.publicKey)
    }
  }

  func sign(_ message: Data) throws -> [UInt8] {
    switch secret {
    case .hs256(let key): Array(HMAC<SHA256>.authenticationCode(for: message, using: key))
    case .es256(let key): Array(try key.signature(for: SHA256.hash(data: message)).rawRepresentation)
    }
  }
}
