import Foundation
import Tokens

/// The keys of access tokens, as `JWT_ALGORITHM` and its neighbours configure them.
package struct TokenKeys: Sendable {
  /// Signs; nil in a process that only believes what auth has signed.
  private let signing: SigningKey?
  private let previous: [SigningKey]

  /// - Throws: ``StartFailure`` that names the variable at fault.
  package init(_ settings: Settings) throws {
    previous = try settings.list("JWT_SECRET_KEYS_PREVIOUS").map { secret in
      try settings.requireStrength(of: secret, in: "JWT_SECRET_KEYS_PREVIOUS")
      return SigningKey(secret: secret)
    }
    switch settings.string("JWT_ALGORITHM", default: "HS256") {
    case "HS256": signing = SigningKey(secret: try settings.secret("JWT_SECRET_KEY"))
    case "ES256": signing = try settings.nonempty("JWT_PRIVATE_KEY").map(Self.privateKey)
    default: throw StartFailure("JWT_ALGORITHM must be HS256 or ES256")
    }
  }

  /// - Parameter text: PEM, or the path of a file with PEM.
  private static func privateKey(_ text: String) throws -> SigningKey {
    do {
      let pem = text.contains("BEGIN") ? text : try String(contentsOfFile: text, encoding: .utf8)
      return try SigningKey(pem: pem)
    } catch {
      throw StartFailure("JWT_PRIVATE_KEY is not a P-256 private key in PEM, nor a file with one")
    }
  }

  package var needsRemote: Bool { signing == nil }

  /// - Throws: ``StartFailure`` in a process without the private key.
  package func issuer() throws -> Issuer {
    guard let signing else { throw StartFailure("JWT_PRIVATE_KEY is not set") }
    return Issuer(signing)
  }

  package func verifier(remote: RemoteKeys? = nil) -> Verifier {
    Verifier([signing].compactMap { $0 } + previous, remote: remote)
  }

  /// What others may know: public keys only, so nothing at all with HS256.
  package var published: JWKS {
    guard let signing, case .es256(let key) = signing.verifying else { return JWKS(keys: []) }
    var jwk = JWK(key)
    jwk.kid = signing.id
    return JWKS(keys: [jwk])
  }
}
