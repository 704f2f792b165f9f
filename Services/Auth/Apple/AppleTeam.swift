import Clients
import Crypto
import Foundation
import Tokens
import Web

/// Our Apple developer team and a private key of it, with which client secrets are signed.
struct AppleTeam: Sendable {
  private let id: String
  private let key: SigningKey
  /// The base URL of Apple's token endpoints.
  let url: String

  /// - Parameter pem: PEM, or the path of a file with PEM.
  /// - Throws: ``StartFailure`` that names the variable.
  init(id: String, keyID: String, pem: String, url: String) throws {
    for (name, text) in [("APPLE_TEAM_ID", id), ("APPLE_KEY_ID", keyID)] {
      guard text.utf8.count <= 64, text.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) }) else {
        throw StartFailure("\(name) must be letters and digits")
      }
    }
    guard WebAddress.isSafe(url) else { throw StartFailure("APPLE_BASE_URL must be an https address") }
    do {
      key = try SigningKey(
        pem: pem.contains("BEGIN") ? pem : try String(contentsOfFile: pem, encoding: .utf8), id: keyID)
    } catch {
      throw StartFailure("APPLE_PRIVATE_KEY is not a P-256 private key in PEM, nor a file with one")
    }
    self.id = id
    self.url = url.hasSuffix("/") ? String(url.dropLast()) : url
  }

  private struct Claims: Encodable {
    let iss: String
    let iat: Int
    let exp: Int
    let aud: String
    let sub: String
  }

  /// The JWT that authenticates an app at Apple ("Creating a client secret"). It expires after five minutes; Apple
  /// allows six months.
  func clientSecret(for app: String, at now: Date) throws -> String {
    let seconds = Int(now.timeIntervalSince1970)
    return try SignedToken.sign(
      Claims(iss: id, iat: seconds, exp: seconds + 300, aud: SignInWithApple.issuer, sub: app), with: key)
  }
}

extension Settings {
  /// nil when none of the three variables is set.
  ///
  /// - Throws: ``StartFailure`` that names the missing or invalid variable.
  func appleTeam() throws -> AppleTeam? {
    let names = ["APPLE_TEAM_ID", "APPLE_KEY_ID", "APPLE_PRIVATE_KEY"]
    let values = names.compactMap(nonempty)
    guard !values.isEmpty else { return nil }
    let missing = (names + ["APPLE_BUNDLE_ID"]).filter { nonempty($0) == nil }
    guard missing.isEmpty else {
      throw StartFailure("Sign in with Apple is half configured: \(missing.joined(separator: ", ")) is not set")
    }
    return try AppleTeam(
      id: values[0], keyID: values[1], pem: values[2],
      url: string("APPLE_BASE_URL", default: "https://appleid.apple.com"))
  }

  func signInWithApple() -> SignInWithApple {
    let url = string("APPLE_JWKS_URL", default: "https://appleid.apple.com/auth/keys")
    return SignInWithApple(
      audiences: Set(list("APPLE_BUNDLE_ID")), keys: RemoteJWKS { try await TokenVerification.keySet(at: url) })
  }
}
