import Foundation
import Tokens
import Web

/// The key for In-App Purchase of App Store Connect, which signs our requests to the App Store Server API.
struct AppStoreServerKey: Sendable {
  private let issuer: String
  private let key: SigningKey
  private let urls: [AppStoreEnvironment: String]

  /// - Parameter pem: PEM, or the path of a file with PEM.
  /// - Throws: ``StartFailure`` that names the variable.
  init(issuer: String, keyID: String, pem: String, urls: [AppStoreEnvironment: String]) throws {
    for (name, text) in [("APPLE_IAP_ISSUER_ID", issuer), ("APPLE_IAP_KEY_ID", keyID)] {
      guard text.utf8.count <= 64, text.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }) else {
        throw StartFailure("\(name) must be letters, digits and hyphens")
      }
    }
    do {
      key = try SigningKey(
        pem: pem.contains("BEGIN") ? pem : try String(contentsOfFile: pem, encoding: .utf8), id: keyID)
    } catch {
      throw StartFailure("APPLE_IAP_PRIVATE_KEY is not a P-256 private key in PEM, nor a file with one")
    }
    self.issuer = issuer
    self.urls = urls.mapValues { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
  }

  /// The base URL of an environment.
  func url(of environment: AppStoreEnvironment) -> String { urls[environment] ?? "" }

  private struct Claims: Encodable {
    let iss: String
    let iat: Int
    let exp: Int
    let aud = "appstoreconnect-v1"
    let bid: String
  }

  /// The bearer token of a request ("Generating JSON Web Tokens for API requests"), which expires after five minutes;
  /// Apple allows an hour.
  func token(for bundleID: String, at now: Date) throws -> String {
    let seconds = Int(now.timeIntervalSince1970)
    return try SignedToken.sign(Claims(iss: issuer, iat: seconds, exp: seconds + 300, bid: bundleID), with: key)
  }
}
