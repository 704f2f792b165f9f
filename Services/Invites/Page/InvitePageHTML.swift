import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import Wire

/// Renders the page of an invite. It loads nothing from other URLs and has no scripts.
enum InvitePageHTML {
  static func response(_ content: InvitePageContent, _ links: AppLinks) -> Response {
    let texts = Texts(content, links)
    return Response(
      status: texts.status,
      headers: [
        .contentType: "text/html; charset=utf-8", .cacheControl: "no-store", .contentSecurityPolicy: policy,
        .robots: "noindex, nofollow", .contentLanguage: "en",
      ], body: .init(byteBuffer: .init(string: html(texts, content, links))))
  }

  private static let policy =
    "default-src 'none'; style-src 'sha256-\(Data(SHA256.hash(data: Data(style.utf8))).base64EncodedString())'; "
    + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

  private static func html(_ texts: Texts, _ content: InvitePageContent, _ links: AppLinks) -> String {
    """
    <!doctype html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
    <title>\(escaped(texts.title))</title>
    <meta name="description" content="\(escaped(texts.preview))">
    <meta name="robots" content="noindex, nofollow">
    <meta name="referrer" content="no-referrer">
    <meta name="color-scheme" content="light dark">
    <meta name="theme-color" content="#f2f1f6" media="(prefers-color-scheme: light)">
    <meta name="theme-color" content="#0b0b0f" media="(prefers-color-scheme: dark)">
    <meta name="format-detection" content="telephone=no, date=no, address=no, email=no">
    <meta property="og:type" content="website">
    <meta property="og:site_name" content="\(escaped(links.app))">
    <meta property="og:title" content="\(escaped(texts.title))">
    <meta property="og:description" content="\(escaped(texts.preview))">
    \(content.url.isEmpty ? "" : "<meta property=\"og:url\" content=\"\(escaped(content.url))\">")
    <meta name="twitter:card" content="summary">
    \(banner(content, links))
    <style>\(style)</style>
    </head>
    <body>
    <main>
    <div class="mark" aria-hidden="true">\(icon(texts))</div>
    <h1>\(escaped(texts.heading))</h1>
    <p class="say">\(escaped(texts.sentence))</p>
    \(code(content))\(actions(content, links))\(expiry(content))</main>
    <footer><p>\(escaped(links.app))</p></footer>
    </body>
    </html>
    """
  }

  /// Safari's Smart App Banner, which opens the app, or the App Store when the app is not installed.
  private static func banner(_ content: InvitePageContent, _ links: AppLinks) -> String {
    guard let id = links.appStoreID else { return "" }
    let argument = content.state == .open ? ", app-argument=\(escaped(content.deepLink))" : ""
    return "<meta name=\"apple-itunes-app\" content=\"app-id=\(id)\(argument)\">"
  }

  private static func icon(_ texts: Texts) -> String {
    """
    <svg viewBox="0 0 48 48" width="44" height="44" fill="none" stroke="currentColor" stroke-width="2.6" \
    stroke-linecap="round" stroke-linejoin="round" focusable="false">\(texts.iconPaths)</svg>
    """
  }

  private static func code(_ content: InvitePageContent) -> String {
    guard content.state == .open, let code = content.code else { return "" }
    let spoken = code.map(String.init).joined(separator: " ")
    return """
      <p class="code"><span class="label">Invite code</span> \
      <span class="letters" aria-hidden="true">\(escaped(code))</span><span class="spoken">\(escaped(spoken))</span></p>

      """
  }

  private static func actions(_ content: InvitePageContent, _ links: AppLinks) -> String {
    let store = "<a class=\"button second\" href=\"\(escaped(links.appStore))\">Get the app</a>"
    switch content.state {
    case .open:
      return """
        <div class="actions"><a class="button" href="\(escaped(content.deepLink))">Open in the app</a>\(store)</div>

        """
    case .expired, .used, .revoked, .notFound: return "<div class=\"actions\">\(store)</div>\n"
    case .rateLimited, .unavailable: return ""
    }
  }

  private static func expiry(_ content: InvitePageContent) -> String {
    guard content.state == .open, let expiresAt = content.expiresAt else { return "" }
    let exact = RFC3339.seconds(expiresAt)
    return "<p class=\"until\">Good until <time datetime=\"\(exact)\">\(day(expiresAt))</time></p>\n"
  }

  /// A date such as `28 November 2026`, in UTC because the reader's time zone is not known.
  static func day(_ date: Date) -> String {
    date.formatted(
      Date.VerbatimFormatStyle(
        format: "\(day: .defaultDigits) \(month: .wide) \(year: .defaultDigits)", locale: Locale(identifier: "en_GB"),
        timeZone: .gmt, calendar: Calendar(identifier: .gregorian)))
  }

  /// Text escaped for element content and for quoted attributes.
  static func escaped(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      case "'": escaped += "&#39;"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}

extension HTTPField.Name {
  // `!`: the name is a constant that is a valid token.
  fileprivate static let robots = Self("X-Robots-Tag")!
}
