import Foundation
import Web

/// Builds the URLs of mailed links and checks redirects. All URLs come from the configuration, never from request
/// headers.
struct MailLinks: Sendable {
  /// `PUBLIC_URL`.
  let origin: String
  /// `AUTH_REDIRECTS`: URLs that a link may redirect to after signing in; the first is the default.
  let redirects: [String]

  /// - Throws: ``StartFailure`` for a redirect without a scheme.
  init(_ settings: Settings) throws {
    origin = settings.publicOrigin
    redirects = settings.list("AUTH_REDIRECTS")
    guard redirects.allSatisfy({ URL(string: $0)?.scheme != nil }) else {
      throw StartFailure("AUTH_REDIRECTS must be URLs, such as myapp://signed-in")
    }
  }

  /// Whether a mail has a link. Confirming an address needs no app to redirect to; receiving a session does.
  func sendsLink(for kind: Challenge.Kind, _ content: Challenge.Content) -> Bool {
    switch kind {
    case .confirmation: true
    case .email, .recovery: !redirects.isEmpty
    // Only the app that asked can use it.
    case .changeEmail: !redirects.isEmpty && content.codeChallenge != nil
    case .phone, .addPhone, .addEmail, .changePhone, .reauthentication, .exchange: false
    }
  }

  /// The URL of the page of a link.
  func url(_ link: MailLinkToken, _ kind: Challenge.Kind) -> String {
    "\(origin)/auth/v1/verify?type=\(kind.rawValue)&token_hash=\(link.text)"
  }

  /// The requested redirect if it is a configured one, or begins with one that is followed by a slash or a question
  /// mark; else the default. nil when none is configured.
  func allowedRedirect(_ requested: String?) -> String? {
    guard let requested, Self.isUnambiguous(requested) else { return redirects.first }
    let isAllowed = redirects.contains { known in
      requested == known || requested.hasPrefix(known.hasSuffix("/") ? known : known + "/")
        || requested.hasPrefix(known + "?")
    }
    return isAllowed ? requested : redirects.first
  }

  /// Whether a URL leads to the location that it begins with: a browser resolves `..` in any spelling (WHATWG URL §4.4)
  /// and treats a backslash as a slash. The appended tokens would become part of a fragment.
  private static func isUnambiguous(_ url: String) -> Bool {
    let isPlain = url.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value < 0x7F && $0 != "\\" && $0 != "#" }
    guard isPlain else { return false }
    let path = url.prefix { $0 != "?" }.lowercased().replacing("%2e", with: ".")
    guard !path.contains("%5c"), !path.contains("%2f"), !path.contains("%25") else { return false }
    return path.split(separator: "/").allSatisfy { $0 != "." && $0 != ".." }
  }
}
