import Foundation
import HTTPTypes
import Hummingbird
import Web
import Wire

/// The page behind a mail's link. Opening it changes nothing, as mail scanners open links: its button does.
struct LinkPage: Sendable {
  let codes: CodeDoor
  let links: MailLinks
  let now: @Sendable () -> Date

  func add(to routes: Router<Context>) {
    routes.get("/auth/v1/verify", use: show)
  }

  @Sendable private func show(_ request: Request, _ context: Context) async throws -> Response {
    let text = request.uri.queryParameters["token_hash"].map(String.init) ?? ""
    let now = now()
    let isOpen = try await codes.database.read { [codes] db in
      try codes.challenges.content(of: LinkToken(presented: text), at: now, on: db) != nil
    }
    guard isOpen else { return page(Self.stale, status: .gone) }
    let kind = request.uri.queryParameters["type"].map(String.init) ?? ""
    let words = kind == "recovery" ? "Set a new password" : kind == "confirmation" ? "Confirm my address" : "Sign in"
    return page(
      """
      <h1>\(words)</h1><p>This takes you to the app.</p>
      <form method="post" action="/auth/v1/verify"><input type="hidden" name="token_hash" value="\(Self.escaped(text))">
      <button>\(words)</button></form>
      """)
  }

  /// Opens a session and hands it to the app, in the part of the address that no server sees. Without an app to go back
  /// to, the address is confirmed and nothing more.
  func consume(_ request: Request) async throws -> Response {
    let form = try await request.form()
    do {
      let now = now()
      let link = LinkToken(presented: form["token_hash"] ?? "")
      let redirect = try await redirect(of: link)
      guard let redirect else {
        try await codes.confirm(link, from: request.place, at: now)
        return page(Self.done)
      }
      let entered = try await codes.signIn(link, visit: request.visit(.supabase), from: request.place, at: now)
      let body = SupabaseSessionBody(entered.pair, entered.profile, at: now)
      let fragment = [
        "access_token": body.access_token, "refresh_token": body.refresh_token, "token_type": body.token_type,
        "expires_in": String(body.expires_in), "expires_at": String(body.expires_at),
      ].sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: "&")
      return Response(status: .seeOther, headers: [.location: "\(redirect)#\(fragment)", .cacheControl: "no-store"])
    } catch let failure as Failure where failure == .invalidCode {
      return page(Self.stale, status: .gone)
    }
  }

  private func redirect(of link: LinkToken) async throws -> String? {
    let now = now()
    return try await codes.database.read { [codes, links] db in
      links.allowed(try codes.challenges.content(of: link, at: now, on: db)?.redirect)
    }
  }

  private static let stale = """
    <h1>This link is no longer good</h1><p>It was used, or is older than an hour. Ask the app for a new one.</p>
    """
  private static let done = """
    <h1>Your address is confirmed</h1><p>Go back to the app and sign in there.</p>
    """

  private func page(_ body: String, status: HTTPResponse.Status = .ok) -> Response {
    let schemes = Set(links.redirects.compactMap { URL(string: $0)?.scheme.map { $0 + ":" } }).sorted()
    let html = """
      <!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
      <meta name="robots" content="noindex"><title>Sign in</title><style>
      :root{color-scheme:light dark}body{font:17px/1.5 -apple-system,system-ui,sans-serif;max-width:24rem;margin:20vh auto 0;
      padding:0 1.5rem;text-align:center}button{font:inherit;font-weight:600;border:0;border-radius:12px;width:100%;
      padding:.9rem;color:#fff;background:#0a60d0}button:focus-visible{outline:3px solid #8ab8ff}</style>
      <body><main>\(body)</main></body></html>
      """
    return Response(
      status: status,
      headers: [
        .contentType: "text/html; charset=utf-8", .cacheControl: "no-store", .referrerPolicy: "no-referrer",
        .contentSecurityPolicy:
          "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; "
          + "form-action 'self' \(schemes.joined(separator: " "))",
      ], body: .init(byteBuffer: .init(string: html)))
  }

  private static func escaped(_ text: String) -> String {
    text.filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
  }
}

extension HTTPField.Name {
  // `!`: the name is a constant that is a valid token.
  fileprivate static let referrerPolicy = Self("Referrer-Policy")!
}

extension Request {
  var isForm: Bool { headers[.contentType]?.lowercased().hasPrefix("application/x-www-form-urlencoded") == true }

  /// The fields of a form, at most 64 KB of them.
  func form() async throws -> [String: String] {
    var copy = self
    let body = String(buffer: try await copy.takeBody())
    var fields: [String: String] = [:]
    for pair in body.split(separator: "&") {
      let parts = pair.split(separator: "=", maxSplits: 1).map {
        $0.replacingOccurrences(of: "+", with: " ").removingPercentEncoding ?? ""
      }
      if parts.count == 2 { fields[parts[0]] = parts[1] }
    }
    return fields
  }
}
