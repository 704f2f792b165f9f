import Foundation
import HTTPTypes
import Hummingbird
import Quotas
import Web
import Wire

/// The page behind a mail's link. Opening it changes nothing, as mail scanners open links: its button does.
struct LinkPage: Sendable {
  let codes: CodeDoor
  let passwords: PasswordDoor
  let links: MailLinks
  let now: @Sendable () -> Date

  func add(to routes: Router<Context>) {
    routes.get("/auth/v1/verify", use: show)
  }

  @Sendable private func show(_ request: Request, _ context: Context) async throws -> Response {
    let text = request.uri.queryParameters["token_hash"].map(String.init) ?? ""
    guard let waiting = try await waiting(behind: LinkToken(presented: text)) else { return stale() }
    return html(form(waiting, text))
  }

  /// Hands what the link is good for to the app: a code that it exchanges when it has sent a challenge (PKCE), else a
  /// session, in the part of the address that no server sees. Without an app to go back to, the address is confirmed and
  /// nothing more.
  func consume(_ request: Request) async throws -> Response {
    let form = try await request.form()
    let link = LinkToken(presented: form["token_hash"] ?? "")
    guard let waiting = try await waiting(behind: link) else { return stale() }
    let now = now()
    let redirect = links.allowed(waiting.content.redirect)
    do {
      if let redirect, waiting.content.codeChallenge != nil {
        return app(redirect, adding: [("code", try await codes.code(for: link, at: now).text)])
      }
      guard waiting.kind != .changeEmail else { return stale() }
      let claimant = try await claimant(waiting, password: form["password"], from: request.place)
      guard let redirect else {
        try await codes.confirm(link, claimant: claimant, from: request.place, at: now)
        return html(Self.done)
      }
      let entered = try await codes.signIn(
        link, claimant: claimant, visit: request.visit(.supabase), from: request.place, at: now)
      return app(redirect, tokens: SupabaseSessionBody(entered.pair, entered.profile, at: now))
    } catch let failure as Failure where failure == .invalidCode {
      return stale()
    } catch is WrongPassword {
      return html("<p>This is not the password.</p>" + self.form(waiting, link.text), status: .forbidden)
    }
  }

  private struct WrongPassword: Error {}

  /// Who has shown, by the password, that the account which claims the address is theirs. Without one it is not asked.
  private func claimant(_ waiting: Answered, password: String?, from place: String) async throws -> UserID? {
    guard waiting.kind == .confirmation, let claimer = waiting.account, let password, !password.isEmpty else {
      return nil
    }
    let (now, quotas) = (now(), codes.quotas)
    try await codes.database.write { db in try quotas.take(.codeTriesFromHere, for: place, at: now, on: db) }
    guard try await passwords.isPassword(password, of: claimer) else { throw WrongPassword() }
    try await codes.database.write { db in try quotas.giveBack(.codeTriesFromHere, for: place, on: db) }
    return claimer
  }

  private func waiting(behind link: LinkToken) async throws -> Answered? {
    let now = now()
    return try await codes.database.read { [codes] db in try codes.challenges.waiting(behind: link, at: now, on: db) }
  }

  // MARK: To the app

  private func app(_ redirect: String, adding items: [(name: String, value: String)]) -> Response {
    let query = items.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
    return Self.leading(to: "\(redirect)\(redirect.contains("?") ? "&" : "?")\(query)")
  }

  private func app(_ redirect: String, tokens body: SupabaseSessionBody) -> Response {
    let fragment = [
      "access_token": body.access_token, "refresh_token": body.refresh_token, "token_type": body.token_type,
      "expires_in": String(body.expires_in), "expires_at": String(body.expires_at),
    ].sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: "&")
    return Self.leading(to: "\(redirect)#\(fragment)")
  }

  private static func leading(to place: String) -> Response {
    Response(status: .seeOther, headers: [.location: place, .cacheControl: "no-store"])
  }

  // MARK: To a person

  /// Whoever confirms the address of an account with a password says by it that the account is theirs: the address may
  /// have been claimed by somebody else.
  private func form(_ waiting: Answered, _ token: String) -> String {
    let words =
      switch waiting.kind {
      case .recovery: "Set a new password"
      case .confirmation: "Confirm my address"
      case .changeEmail: "Use this address"
      default: "Sign in"
      }
    func form(_ fields: String, _ words: String) -> String {
      """
      <form method="post" action="/auth/v1/verify"><input type="hidden" name="token_hash" value="\(Self.escaped(token))">
      \(fields)<button>\(words)</button></form>
      """
    }
    let leadsBackToWhoAsked = waiting.content.codeChallenge != nil && links.allowed(waiting.content.redirect) != nil
    guard waiting.kind == .confirmation, !leadsBackToWhoAsked else {
      return "<h1>\(words)</h1><p>This takes you to the app.</p>" + form("", words)
    }
    let password = """
      <label>The password that you have chosen
      <input type="password" name="password" autocomplete="current-password" required></label>
      """
    return "<h1>\(words)</h1>" + form(password, words)
      + "<p>You have not signed up? Then the account is not yours, and your address leaves it.</p>"
      + form("", "It was not me")
  }

  private func stale() -> Response {
    html(
      """
      <h1>This link is no longer good</h1><p>It was used, or is older than an hour. Ask the app for a new one.</p>
      """, status: .gone)
  }

  private static let done = """
    <h1>Your address is confirmed</h1><p>Go back to the app and sign in there.</p>
    """

  private func html(_ body: String, status: HTTPResponse.Status = .ok) -> Response {
    let schemes = Set(links.redirects.compactMap { URL(string: $0)?.scheme.map { $0 + ":" } }).sorted()
    let html = """
      <!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
      <meta name="robots" content="noindex"><title>Sign in</title><style>
      :root{color-scheme:light dark}body{font:17px/1.5 -apple-system,system-ui,sans-serif;max-width:24rem;margin:20vh auto 0;
      padding:0 1.5rem;text-align:center}button{font:inherit;font-weight:600;border:0;border-radius:12px;width:100%;
      padding:.9rem;color:#fff;background:#0a60d0}button:focus-visible{outline:3px solid #8ab8ff}
      label input{font:inherit;box-sizing:border-box;width:100%;margin:.25rem 0 1rem;padding:.7rem}</style>
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
