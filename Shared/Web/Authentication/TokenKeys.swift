import Crypto
import Foundation
import Logging
import ServiceLifecycle
import Tokens
import UnixSignals

/// The keys of access tokens, configured by the `JWT_…` variables. Key files are read again on SIGHUP.
///
/// Every configured key verifies tokens, whichever one signs, so a deployment can change from HS256 to ES256 and back
/// while tokens of both kinds are in use.
package struct TokenKeys: Service {
  package let ring: KeyRing
  private let settings: Settings
  private let logger: Logger

  /// - Throws: ``StartFailure`` that names the wrong variable.
  package init(_ settings: Settings, logger: Logger) throws {
    self.settings = settings
    self.logger = logger
    ring = KeyRing(try Self.read(settings))
  }

  /// - Throws: ``StartFailure`` in a process without a signing key.
  package func signer() throws -> AccessTokenSigner {
    guard ring.current.signing != nil else { throw StartFailure("JWT_PRIVATE_KEY is not set") }
    return AccessTokenSigner(ring)
  }

  /// Reads the key files again on SIGHUP. When that fails, the current keys stay.
  package func run() async throws {
    await cancelWhenGracefulShutdown {
      for await _ in await UnixSignalsSequence(trapping: .sighup) {
        do {
          ring.replace(with: try Self.read(settings))
          logger.notice("token keys reloaded")
        } catch {
          logger.error("token keys not reloaded, the old ones stay", metadata: ["error": "\(error)"])
        }
      }
    }
  }

  private static func read(_ settings: Settings) throws -> KeyRing.Keys {
    var secrets = try settings.list("JWT_SECRET_KEYS_PREVIOUS").map { secret in
      try settings.requireStrength(of: secret, in: "JWT_SECRET_KEYS_PREVIOUS")
      return SigningKey(secret: secret)
    }
    let pairs = try settings.nonempty("JWT_PRIVATE_KEY").map(pem) ?? PEMKeys()
    switch settings.string("JWT_ALGORITHM", default: "HS256") {
    case "HS256":
      let secret = SigningKey(secret: try settings.secret("JWT_SECRET_KEY"))
      return KeyRing.Keys(signing: secret, secrets: secrets, publicKeys: pairs.publicKeys)
    case "ES256":
      if settings.nonempty("JWT_SECRET_KEY") != nil {
        secrets.append(SigningKey(secret: try settings.secret("JWT_SECRET_KEY")))
      }
      return KeyRing.Keys(signing: pairs.signing, secrets: secrets, publicKeys: pairs.publicKeys)
    default: throw StartFailure("JWT_ALGORITHM must be HS256 or ES256")
    }
  }

  /// - Parameter text: PEM text, or the path of a PEM file.
  private static func pem(_ text: String) throws -> PEMKeys {
    do {
      let keys = try PEMKeys(text.contains("BEGIN") ? text : try String(contentsOfFile: text, encoding: .utf8))
      guard keys.signing != nil else { throw StartFailure("") }
      return keys
    } catch {
      throw StartFailure("JWT_PRIVATE_KEY is not a P-256 private key in PEM, nor a file with one")
    }
  }
}
