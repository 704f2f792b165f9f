import Foundation
import HTTPTypes
import Hummingbird
import Quotas
import Web
import Wire

/// The page that a mailed link opens. Opening it changes nothing, as mail scanners open links; submitting its form
/// does.
struct MailLinkPage: Sendable {
  let codeSignIn: CodeSignIn
  let passwordSignIn: PasswordSignIn
  let links: MailLinks
  let now: @Sendable () -> Date

  func add(to routes: HTTPRoutes) {
    routes.get("/auth/v1/verify", use: show)
  }

  @Sendable private func show(_ request: Request, _ context: Context) async throws -> Response {
    let text = request.uri.queryParameters["token_hash"].map(String.init) ?? ""
    guard let pending = try await pending(for: MailLinkToken(presented: text)) else { return expiredPage() }
    return html(form(pending, text))
  }

  /// Answers the link and redirects to the app: with an authorization code that the app exchanges when it sent a code
  /// challenge (PKCE), else with a session in the URL's fragment, which is not sent to servers. Without a redirect, the
  /// address is confirmed and no session is opened.
  func submit(_ request: Request) async throws -> Response {
    let form = try await request.form()
    let link = MailLinkToken(presented: form["token_hash"] ?? "")
    guard let pending = try await pending(for: link) else { return expiredPage() }
    let now = now()
    let redirect = links.allowedRedirect(pending.content.redirect)
    do {
      if let redirect, pending.content.codeChallenge != nil {
        let code = try await codeSignIn.authorizationCode(for: link, at: now)
        return redirectToApp(redirect, adding: [("code", code.text)])
      }
      guard pending.kind != .changeEmail else { return expiredPage() }
      let user = try await authenticatedUser(pending, password: form["password"], from: request.clientAddress)
      guard let redirect else {
        try await codeSignIn.confirm(link, authenticatedUser: user, from: request.clientAddress, at: now)
        return html(Self.confirmedPage)
      }
      let result = try await codeSignIn.signIn(
        link, authenticatedUser: user, context: request.signInContext(.supabase), from: request.clientAddress, at: now)
      return redirectToApp(redirect, tokens: result.pair, at: now)
    } catch let failure as Failure where failure == .invalidCode {
      return expiredPage()
    } catch is WrongPassword {
      return html("<p>This is not the password.</p>" + self.form(pending, link.text), status: .forbidden)
    }
  }

  private struct WrongPassword: Error {}

  /// The user who claims the address, when the form has that account's password. nil without a password, which the form
  /// does not require.
  private func authenticatedUser(
    _ pending: StoredChallenge, password: String?, from clientAddress: String
  ) async throws -> UserID? {
    guard pending.kind == .confirmation, let claimingUser = pending.account, let password, !password.isEmpty else {
      return nil
    }
    let (now, quotas) = (now(), codeSignIn.quotas)
    try await codeSignIn.database.write { db in
      try quotas.take(.codePerClientAddress, for: clientAddress, at: now, on: db)
    }
    guard try await passwordSignIn.isPassword(password, of: claimingUser) else { throw WrongPassword() }
    try await codeSignIn.database.write { db in
      try quotas.giveBack(.codePerClientAddress, for: clientAddress, on: db)
    }
    return claimingUser
  }

  private func pending(for link: MailLinkToken) async throws -> StoredChallenge? {
    let now = now()
    return try await codeSignIn.database.read { [codeSignIn] db in
      try codeSignIn.challenges.pending(for: link, at: now, on: db)
    }
  }

  // MARK: Redirects to the app

  private func redirectToApp(_ redirect: String, adding items: [(name: String, value: String)]) -> Response {
    let query = items.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
    return Self.seeOther("\(redirect)\(redirect.contains("?") ? "&" : "?")\(query)")
  }

  private func redirectToApp(_ redirect: String, tokens pair: TokenPair, at now: Date) -> Response {
    let fragment = [
      "access_token": pair.access, "refresh_token": pair.refresh.text, "token_type": TokenPair.accessType,
      "expires_in": String(pair.accessExpiresIn(at: now)), "expires_at": String(pair.accessExpiry),
    ].sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: "&")
    return Self.seeOther("\(redirect)#\(fragment)")
  }

  private static func seeOther(_ location: String) -> Response {
    Response(status: .seeOther, headers: [.location: location, .cacheControl: "no-store"])
  }

  // MARK: HTML

  /// The form of a link. Confirming the address of an account with a password asks for that password: somebody else may
  /// have claimed the address.
  private func form(_ pending: StoredChallenge, _ token: String) -> String {
    let action =
      switch pending.kind {
      case .recovery: "Set a new password"
      case .confirmation: "Confirm my address"
      case .changeEmail: "Use this address"
      default: "Sign in"
      }
    func form(_ fields: String, _ button: String) -> String {
      """
      <form method="post" action="/auth/v1/verify"><input type="hidden" name="token_hash" value="\(Self.escaped(token))">
      \(fields)<button>\(button)</button></form>
      """
    }
    let redirectsToAskingApp =
      pending.content.codeChallenge != nil && links.allowedRedirect(pending.content.redirect) != nil
    guard pending.kind == .confirmation, !redirectsToAskingApp else {
      return "<h1>\(action)</h1><p>This takes you to the app.</p>" + form("", action)
    }
    let password = """
      <label>The password that you have chosen
      <input type="password" name="password" autocomplete="current-password" required></label>
      """
    return "<h1>\(action)</h1>" + form(password, action)
      + "<p>You have not signed up? Then the account is not yours, and your address leaves it.</p>"
      + form("", "It was not me")
  }

  private func expiredPage() -> Response {
    html(
      """
      <h1>This link is no longer good</h1><p>It was used, or is older than an hour. Ask the app for a new one.</p>
      """, status: .gone)
  }

  private static let confirmedPage = """
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

  /// Keeps the characters of base64url only.
  private static func escaped(_ text: String) -> String {
    text.filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
  }
}

extension HTTPField.Name {
  // `!`: the name is a constant that is a valid token.
  fileprivate static let referrerPolicy = Self("Referrer-Policy")!
}
