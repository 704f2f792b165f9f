import StrictHTTP
import Web

/// Accounts, and every way to sign in.
extension Route {
  static let auth: [Route] = Array([sessions, email, phone, supabase, accounts].joined())

  private static let sessions: [Route] = [
    .init(.POST, "/api/v1/auth/apple", to: .auth, limit: .signIn),
    .init(.POST, "/api/v1/auth/dev/token", to: .auth),
    .init(.POST, "/api/v1/auth/refresh", to: .auth, limit: .refresh),
    .init(.POST, "/api/v1/auth/logout", to: .auth),
    .init(.GET, "/api/v1/auth/me", to: .auth, bearer: .required),
    .init(.DELETE, "/api/v1/auth/account", to: .auth, bearer: .required),
    .init(.GET, "/api/v1/auth/sessions", to: .auth, bearer: .required),
    .init(.DELETE, "/api/v1/auth/sessions", to: .auth, bearer: .required),
    .init(.DELETE, "/api/v1/auth/sessions/{session}", to: .auth, bearer: .required),
    .init(.GET, "/api/v1/auth/identities", to: .auth, bearer: .required),
    .init(.POST, "/api/v1/auth/identities/apple", to: .auth, bearer: .required, limit: .signIn),
    .init(.POST, "/api/v1/auth/identities/email", to: .auth, bearer: .required, limit: .signIn),
    .init(.POST, "/api/v1/auth/identities/email/confirm", to: .auth, bearer: .required, limit: .signIn),
    .init(.POST, "/api/v1/auth/identities/phone", to: .auth, bearer: .required, limit: .signIn),
    .init(.POST, "/api/v1/auth/identities/phone/confirm", to: .auth, bearer: .required, limit: .signIn),
    .init(.DELETE, "/api/v1/auth/identities", to: .auth, bearer: .required),
    .init(.DELETE, "/api/v1/auth/identities/apple", to: .auth, bearer: .required),
    .init(.DELETE, "/api/v1/auth/identities/email", to: .auth, bearer: .required),
    .init(.DELETE, "/api/v1/auth/identities/phone", to: .auth, bearer: .required),
    .init(.POST, "/webhooks/apple/signin", to: .auth, limit: .webhook, bodyBytesMax: webhookBytesMax),
    .init(.GET, "/.well-known/jwks.json", to: .auth),
  ]

  private static let email: [Route] = [
    .init(.POST, "/api/v1/auth/sign_in", to: .auth, limit: .signIn),
    .init(.POST, "/api/v1/auth/sign_up", to: .auth, limit: .signIn),
    .init(.DELETE, "/api/v1/auth/sign_out", to: .auth, bearer: .required),
    // With a token they change the password, without one they request a mail to reset it.
    .init(.POST, "/api/v1/auth/password", to: .auth, bearer: .optional, limit: .signIn),
    .init(.PUT, "/api/v1/auth/password", to: .auth, bearer: .optional, limit: .signIn),
    .init(.PATCH, "/api/v1/auth/password", to: .auth, bearer: .optional, limit: .signIn),
    .init(.POST, "/login", to: .auth, limit: .signIn),
    .init(.POST, "/register", to: .auth, limit: .signIn),
    .init(.DELETE, "/logout", to: .auth, bearer: .required),
    .init(.GET, "/profile", to: .auth, bearer: .required),
  ]

  private static let phone: [Route] = [
    .init(.POST, "/api/auth/request-verification", to: .auth, limit: .signIn),
    .init(.POST, "/api/auth/verify", to: .auth, limit: .signIn),
    .init(.POST, "/api/auth/verify/confirm", to: .auth, limit: .signIn),
    .init(.POST, "/api/auth/refresh", to: .auth, limit: .refresh),
    .init(.GET, "/api/auth/me", to: .auth, bearer: .required),
  ]

  private static let supabase: [Route] = [
    .init(.POST, "/auth/v1/signin/email", to: .auth, limit: .signIn),
    .init(.POST, "/auth/v1/signin/apple", to: .auth, limit: .signIn),
    .init(.POST, "/auth/v1/signup/email", to: .auth, limit: .signIn),
    .init(.POST, "/auth/v1/signout", to: .auth, bearer: .required),
    .init(.POST, "/auth/v1/signup", to: .auth, limit: .signIn),
    // Sign-ins by password and token refreshes share this path; only the query distinguishes them. With a token it
    // links an Apple ID.
    .init(
      .POST, "/auth/v1/token", to: .auth, bearer: .ifValid, limit: .signIn, refreshQuery: "grant_type=refresh_token"),
    .init(.POST, "/auth/v1/otp", to: .auth, bearer: .ifValid, limit: .signIn),
    .init(.POST, "/auth/v1/magiclink", to: .auth, bearer: .ifValid, limit: .signIn),
    // A link in a mail: GET shows a page with a button, whose POST redeems the link.
    .init(.GET, "/auth/v1/verify", to: .auth),
    // Without a token it signs in, with one it adds a mail address or a phone number.
    .init(.POST, "/auth/v1/verify", to: .auth, bearer: .ifValid, limit: .signIn),
    .init(.POST, "/auth/v1/recover", to: .auth, limit: .signIn),
    .init(.POST, "/auth/v1/resend", to: .auth, bearer: .ifValid, limit: .signIn),
    .init(.GET, "/auth/v1/reauthenticate", to: .auth, bearer: .required, limit: .signIn),
    .init(.GET, "/auth/v1/.well-known/jwks.json", to: .auth),
    .init(.GET, "/auth/v1/user", to: .auth, bearer: .required),
    .init(.PUT, "/auth/v1/user", to: .auth, bearer: .required),
    .init(.POST, "/auth/v1/logout", to: .auth, bearer: .required),
  ]

  private static let accounts: [Route] = [
    .init(.POST, "/api/v1/users/resolve", to: .auth, bearer: .serviceKey),
    // Auth collects the data from every service.
    .init(.GET, "/api/v1/users/me/export", to: .auth, bearer: .required, responseSeconds: 30),
    .init(.GET, "/api/v1/users/profile", to: .auth, bearer: .required),
    .init(.PATCH, "/api/v1/users/profile", to: .auth, bearer: .required),
    .init(.PUT, "/api/v1/users/profile", to: .auth, bearer: .required),
    .init(.DELETE, "/api/v1/users/profile", to: .auth, bearer: .required),
    .init(.PATCH, "/api/v1/users/profile/password", to: .auth, bearer: .required),
    .init(.PUT, "/api/v1/users/profile/password", to: .auth, bearer: .required),
    .init(.GET, "/rest/v1/users", to: .auth, bearer: .required),
    .init(.PATCH, "/rest/v1/users", to: .auth, bearer: .required),
    .init(.GET, "/users", to: .auth, bearer: .required),
    .init(.POST, "/users", to: .auth, bearer: .required),
    .init(.GET, "/users/me", to: .auth, bearer: .required),
    .init(.PATCH, "/users/me", to: .auth, bearer: .required),
    .init(.PATCH, "/users/me/language", to: .auth, bearer: .required),
    .init(.GET, "/users/{user}", to: .auth, bearer: .required),
    .init(.PATCH, "/users/{user}", to: .auth, bearer: .required),
  ]
}
