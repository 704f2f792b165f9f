import Foundation
import Web

/// The URLs that links, texts and pages contain: the app's deep links, its App Store page and this service's own pages.
/// They come from the configuration, never from a request's headers.
struct AppLinks: Sendable {
  /// `PUBLIC_URL` without a trailing slash.
  let origin: String
  /// The App Store page, an `https` URL.
  let appStore: String
  /// The app's name as people read it.
  let app: String
  private let tokenPattern: String
  private let codePattern: String

  /// - Throws: ``StartFailure`` that names the variable that is not a URL or lacks its placeholder.
  init(_ settings: Settings) throws {
    origin = settings.publicOrigin
    appStore = settings.string("APP_STORE_URL", default: "https://apps.apple.com/app/id6749925767")
    app = settings.string("APP_NAME", default: "Kith")
    tokenPattern = settings.string("INVITE_DEEP_LINK", default: "sampleart://invite/{token}")
    codePattern = settings.string("CODE_DEEP_LINK", default: "daily://invite?code={code}")
    for (name, pattern, placeholder) in [
      ("INVITE_DEEP_LINK", tokenPattern, "{token}"), ("CODE_DEEP_LINK", codePattern, "{code}"),
    ] where !pattern.contains(placeholder) || !Self.isURL(pattern.replacing(placeholder, with: "x")) {
      throw StartFailure("\(name) must be a URL with \(placeholder) in it")
    }
    guard Self.isURL(appStore), appStore.hasPrefix("https://") else {
      throw StartFailure("APP_STORE_URL must begin with https://")
    }
  }

  private static func isURL(_ text: String) -> Bool {
    guard let scheme = URL(string: text)?.scheme?.lowercased() else { return false }
    return !["javascript", "data", "vbscript"].contains(scheme)
  }

  func deepLink(of token: InviteToken) -> String { tokenPattern.replacing("{token}", with: token.text) }

  func deepLink(ofCode code: InviteToken) -> String { codePattern.replacing("{code}", with: code.text) }

  func pageURL(of token: InviteToken) -> String { "\(origin)/invite/\(token.text)" }

  func pageURL(ofCode code: InviteToken) -> String { "\(origin)/i/\(code.text)" }

  /// The App Store id in ``appStore``, for Safari's Smart App Banner; nil when the URL has none.
  var appStoreID: String? { appStore.firstMatch(of: /\/id(\d+)/).map { String($0.output.1) } }
}
