import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import Wire

/// The page as text. Nothing of it is fetched from anywhere, and nothing on it runs.
enum PageText {
  static func response(_ sight: Sight, _ links: AppLinks) -> Response {
    let words = Words(sight, links)
    return Response(
      status: words.status,
      headers: [
        .contentType: "text/html; charset=utf-8", .cacheControl: "no-store", .contentSecurityPolicy: policy,
        .robots: "noindex, nofollow", .contentLanguage: "en",
      ], body: .init(byteBuffer: .init(string: html(words, sight, links))))
  }

  private static let policy =
    "default-src 'none'; style-src 'sha256-\(Data(SHA256.hash(data: Data(style.utf8))).base64EncodedString())'; "
    + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

  private static func html(_ words: Words, _ sight: Sight, _ links: AppLinks) -> String {
    """
    <!doctype html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
    <title>\(escaped(words.title))</title>
    <meta name="description" content="\(escaped(words.preview))">
    <meta name="robots" content="noindex, nofollow">
    <meta name="referrer" content="no-referrer">
    <meta name="color-scheme" content="light dark">
    <meta name="theme-color" content="#f2f1f6" media="(prefers-color-scheme: light)">
    <meta name="theme-color" content="#0b0b0f" media="(prefers-color-scheme: dark)">
    <meta name="format-detection" content="telephone=no, date=no, address=no, email=no">
    <meta property="og:type" content="website">
    <meta property="og:site_name" content="\(escaped(links.app))">
    <meta property="og:title" content="\(escaped(words.title))">
    <meta property="og:description" content="\(escaped(words.preview))">
    \(sight.url.isEmpty ? "" : "<meta property=\"og:url\" content=\"\(escaped(sight.url))\">")
    <meta name="twitter:card" content="summary">
    \(banner(sight, links))
    <style>\(style)</style>
    </head>
    <body>
    <main>
    <div class="mark" aria-hidden="true">\(mark(words))</div>
    <h1>\(escaped(words.heading))</h1>
    <p class="say">\(escaped(words.sentence))</p>
    \(code(sight))\(actions(sight, links))\(until(sight))</main>
    <footer><p>\(escaped(links.app))</p></footer>
    </body>
    </html>
    """
  }

  /// Safari's banner above the page: opens the app where it is, the App Store where it is not.
  private static func banner(_ sight: Sight, _ links: AppLinks) -> String {
    guard let id = links.appStoreID else { return "" }
    let argument = sight.state == .open ? ", app-argument=\(escaped(sight.deepLink))" : ""
    return "<meta name=\"apple-itunes-app\" content=\"app-id=\(id)\(argument)\">"
  }

  private static func mark(_ words: Words) -> String {
    """
    <svg viewBox="0 0 48 48" width="44" height="44" fill="none" stroke="currentColor" stroke-width="2.6" \
    stroke-linecap="round" stroke-linejoin="round" focusable="false">\(words.drawing)</svg>
    """
  }

  private static func code(_ sight: Sight) -> String {
    guard sight.state == .open, let code = sight.code else { return "" }
    let spoken = code.map(String.init).joined(separator: " ")
    return """
      <p class="code"><span class="label">Invite code</span> \
      <span class="letters" aria-hidden="true">\(escaped(code))</span><span class="spoken">\(escaped(spoken))</span></p>

      """
  }

  private static func actions(_ sight: Sight, _ links: AppLinks) -> String {
    let store = "<a class=\"button second\" href=\"\(escaped(links.appStore))\">Get the app</a>"
    switch sight.state {
    case .open:
      return """
        <div class="actions"><a class="button" href="\(escaped(sight.deepLink))">Open in the app</a>\(store)</div>

        """
    case .expired, .over, .takenBack, .unknown: return "<div class=\"actions\">\(store)</div>\n"
    case .tooOften, .away: return ""
    }
  }

  private static func until(_ sight: Sight) -> String {
    guard sight.state == .open, let expiry = sight.expiresAt else { return "" }
    let exact = Instant.seconds(expiry)
    return "<p class=\"until\">Good until <time datetime=\"\(exact)\">\(day(expiry))</time></p>\n"
  }

  /// `28 November 2026`, in UTC: where the reader is, nobody knows.
  static func day(_ date: Date) -> String {
    date.formatted(
      Date.VerbatimFormatStyle(
        format: "\(day: .defaultDigits) \(month: .wide) \(year: .defaultDigits)", locale: Locale(identifier: "en_GB"),
        timeZone: .gmt, calendar: Calendar(identifier: .gregorian)))
  }

  /// Text as it may stand between tags and in an attribute's quotes.
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
