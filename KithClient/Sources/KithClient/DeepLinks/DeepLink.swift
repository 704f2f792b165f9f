import Foundation

/// What a link that opened the app is about.
public enum DeepLink: Sendable, Hashable, Codable {
  /// A code to a group or a list: `daily://invite?code=K7QM2X`, `https://…/i/K7QM2XWP`.
  case code(String)
  /// A share link of a collection: `sampleart://invite/inv_…`, `https://…/invite/inv_…`.
  case share(token: String)

  /// - Parameters:
  ///   - webHosts: the hosts whose https links are the app's: that of the server's `PUBLIC_URL`.
  /// - Returns: nil: another link.
  public init?(_ url: URL, webHosts: Set<String> = []) {
    guard let components = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return nil }
    let path = components.path.split(separator: "/").map(String.init)
    switch components.scheme?.lowercased() {
    case "https":
      guard let host = components.host?.lowercased(), webHosts.contains(host), path.count == 2 else { return nil }
      self.init(kind: path[0], value: path[1])
    case "daily":
      let code = components.queryItems?.first { $0.name == "code" }?.value
      guard components.host == "invite", let code else { return nil }
      self.init(kind: "i", value: code)
    case "sampleart":
      guard components.host == "invite", path.count == 1 else { return nil }
      self.init(kind: "invite", value: path[0])
    default: return nil
    }
  }

  private init?(kind: String, value: String) {
    let value = value.trimmingCharacters(in: .whitespacesAndNewlines)
    switch kind {
    case "i":
      let code = value.uppercased()
      guard (4...16).contains(code.count), code.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) }) else {
        return nil
      }
      self = .code(code)
    case "invite":
      guard value.hasPrefix("inv_"), value.utf8.count <= 128,
        value.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == "-") })
      else { return nil }
      self = .share(token: value)
    default: return nil
    }
  }
}

/// What a link has let the user into.
public enum RedeemedLink: Sendable, Equatable {
  case group(JoinedGroup)
  case list(JoinedList)
  case collection(ShareLinkAnswer)
  /// The user was in already.
  case alreadyIn
}
