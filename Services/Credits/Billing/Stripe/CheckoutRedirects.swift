import Foundation
import Web
import Wire

/// The URLs to which Stripe may send users after a checkout (`CHECKOUT_REDIRECTS`): URLs of a web page, under which all
/// its paths are allowed, or of an app, whose whole scheme is allowed. Without any, every https URL is allowed.
struct CheckoutRedirects: Sendable {
  private let allowed: [URLComponents]
  /// The first allowed one, for requests that name none.
  let fallback: String?

  private static let lengthMax = 2048

  /// - Throws: ``StartFailure`` for an entry that is no URL, or one of http beyond this machine.
  init(_ entries: [String]) throws {
    allowed = try entries.map { entry in
      guard let parts = URLComponents(string: entry), let scheme = parts.scheme, parts.user == nil,
        parts.query == nil, parts.fragment == nil
      else { throw StartFailure("CHECKOUT_REDIRECTS has an entry that is no URL") }
      let isWeb = ["http", "https"].contains(scheme)
      guard isWeb ? WebAddress.isSafe(entry) : !Self.dangerous.contains(scheme.lowercased()) else {
        throw StartFailure("CHECKOUT_REDIRECTS must have https URLs, or URLs of an app's own scheme")
      }
      return parts
    }
    fallback = entries.first
  }

  /// - Parameter field: the name in the body.
  /// - Throws: the validation failure that names `field`.
  func checked(_ text: String, field: String) throws(Failure) -> String {
    let isVisible = text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\\") }
    guard isVisible, text.utf8.count <= Self.lengthMax, let url = URLComponents(string: text), let scheme = url.scheme,
      url.user == nil
    else { throw .invalid(.init(field, "must be a URL of at most \(Self.lengthMax) characters")) }
    let isAllowed =
      allowed.isEmpty
      ? scheme == "https" && !(url.host ?? "").isEmpty : allowed.contains { Self.covers($0, url) }
    guard isAllowed else { throw .invalid(.init(field, "must be a URL that CHECKOUT_REDIRECTS allows")) }
    return text
  }

  private static func covers(_ allowed: URLComponents, _ url: URLComponents) -> Bool {
    guard allowed.scheme == url.scheme else { return false }
    guard ["http", "https"].contains(url.scheme) else { return true }
    let folder = allowed.path.hasSuffix("/") ? allowed.path : allowed.path + "/"
    let isUnder = url.path == allowed.path || url.path.hasPrefix(folder) && !url.path.contains("/..")
    return allowed.host == url.host && allowed.port == url.port && isUnder
  }

  private static let dangerous: Set = ["javascript", "data", "file", "vbscript", "blob", "about"]
}
