import Foundation
import Web

/// Where links and texts lead: into the app, to the App Store, and to our own pages. Made from configuration, never from
/// what a request says of itself.
struct AppLinks: Sendable {
  /// `PUBLIC_URL`, without a slash at its end.
  let origin: String
  let appStore: String
  let app: String
  private let tokenPattern: String
  private let codePattern: String

  /// - Throws: ``StartFailure`` that names the variable which is no URL, or lacks its place for the secret.
  init(_ settings: Settings) throws {
    let origin = settings.string("PUBLIC_URL", default: "http://127.0.0.1:8080")
    self.origin = origin.hasSuffix("/") ? String(origin.dropLast()) : origin
    appStore = settings.string("APP_STORE_URL", default: "https://apps.apple.com/app/id6749925767")
    app = settings.string("APP_NAME", default: "Kith")
    tokenPattern = settings.string("INVITE_DEEP_LINK", default: "sampleart://invite/{token}")
    codePattern = settings.string("CODE_DEEP_LINK", default: "daily://invite?code={code}")
    for (name, pattern, place) in [
      ("INVITE_DEEP_LINK", tokenPattern, "{token}"), ("CODE_DEEP_LINK", codePattern, "{code}"),
    ] where !pattern.contains(place) || !Self.isURL(pattern.replacing(place, with: "x")) {
      throw StartFailure("\(name) must be a URL with \(place) in it")
    }
    guard Self.isURL(appStore), appStore.hasPrefix("https://") else {
      throw StartFailure("APP_STORE_URL must begin with https://")
    }
  }

  private static func isURL(_ text: String) -> Bool {
    guard let scheme = URL(string: text)?.scheme?.lowercased() else { return false }
    return !["javascript", "data", "vbscript"].contains(scheme)
  }

  func deepLink(of token: Secret) -> String { tokenPattern.replacing("{token}", with: token.text) }

  func deepLink(ofCode code: Secret) -> String { codePattern.replacing("{code}", with: code.text) }

  func page(of token: Secret) -> String { "\(origin)/invite/\(token.text)" }

  func page(ofCode code: Secret) -> String { "\(origin)/i/\(code.text)" }

  /// The number by which the App Store knows the app, for the banner that Safari shows.
  var appStoreID: String? { appStore.firstMatch(of: /\/id(\d+)/).map { String($0.output.1) } }
}
