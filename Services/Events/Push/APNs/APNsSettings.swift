import Foundation
import Tokens
import Web

/// The key with which pushes are sent, and where.
struct APNsSettings: Sendable {
  let token: ProviderToken
  /// The bundle id of the app.
  let topic: String
  let urls: [APNsEnvironment: String]
  /// The path of a file with further certificates in PEM that are trusted, for a proxy or a test.
  let extraRoots: String?

  /// nil when none of the variables of the key is set: nothing is pushed.
  ///
  /// - Throws: ``StartFailure`` that names the missing or invalid variable.
  init?(_ settings: Settings) throws {
    let names = ["APNS_TEAM_ID", "APNS_KEY_ID", "APNS_PRIVATE_KEY", "APNS_TOPIC"]
    let values = names.compactMap(settings.nonempty)
    guard !values.isEmpty else { return nil }
    let missing = names.filter { settings.nonempty($0) == nil }
    guard missing.isEmpty else {
      throw StartFailure("Push is half configured: \(missing.joined(separator: ", ")) is not set")
    }
    for (name, text) in zip(names.prefix(2), values) {
      guard text.utf8.count <= 64, text.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) }) else {
        throw StartFailure("\(name) must be letters and digits")
      }
    }
    guard values[3].wholeMatch(of: /[A-Za-z0-9.\-]{1,255}/) != nil else {
      throw StartFailure("APNS_TOPIC must be the bundle id of the app")
    }
    token = ProviderToken(team: values[0], key: try Self.key(values[2], id: values[1]))
    topic = values[3]
    urls = [
      .production: try Self.url(settings, "APNS_URL", default: "https://api.push.apple.com"),
      .sandbox: try Self.url(settings, "APNS_SANDBOX_URL", default: "https://api.sandbox.push.apple.com"),
    ]
    extraRoots = settings.nonempty("TLS_EXTRA_ROOTS")
    if let extraRoots, !FileManager.default.isReadableFile(atPath: extraRoots) {
      throw StartFailure("TLS_EXTRA_ROOTS is not a file that can be read")
    }
  }

  private static func key(_ text: String, id: String) throws -> SigningKey {
    do {
      return try SigningKey(
        pem: text.contains("BEGIN") ? text : try String(contentsOfFile: text, encoding: .utf8), id: id)
    } catch {
      throw StartFailure("APNS_PRIVATE_KEY is not a P-256 private key in PEM, nor a file with one")
    }
  }

  private static func url(_ settings: Settings, _ name: String, default fallback: String) throws -> String {
    let url = settings.string(name, default: fallback)
    guard WebAddress.isSafe(url), url.hasPrefix("https:") else {
      throw StartFailure("\(name) must be an https address")
    }
    return url.hasSuffix("/") ? String(url.dropLast()) : url
  }
}
