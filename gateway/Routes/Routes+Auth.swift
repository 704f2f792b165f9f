import StrictHTTP
import Web

/// Accounts, and every door to them.
extension Route {
  static let auth: [Route] = Array([sessions, mailDoors, phoneDoors, supabaseDoors, accounts].joined())

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
    .init(.POST, "/webhooks/apple/signin", to: .auth, bodyBytesMax: webhookBytesMax),
    .init(.GET, "/.well-known/jwks.json", to: .auth),
  ]

  private static let mailDoors: [Route] = [
    .init(.POST, "/api/v1/auth/sign_in", to: .auth, limit: .signIn),
    .init(.POST, "/api/v1/auth/sign_up", to: .auth, limit: .signIn),
    .init(.DELETE, "/api/v1/auth/sign_out", to: .auth, bearer: .required),
    // Who is signed in changes the password, who has forgotten it asks for a mail.
    .init(.POST, "/api/v1/auth/password", to: .auth, bearer: .optional, limit: .signIn),
    .init(.PUT, "/api/v1/auth/password", to: .auth, bearer: .optional, limit: .signIn),
    .init(.PATCH, "/api/v1/auth/password", to: .auth, bearer: .optional, limit: .signIn),
    .init(.POST, "/login", to: .auth, limit: .signIn),
    .init(.POST, "/register", to: .auth, limit: .signIn),
    .init(.DELETE, "/logout", to: .auth, bearer: .required),
    .init(.GET, "/profile", to: .auth, bearer: .required),
  ]

  private static let phoneDoors: [Route] = [
    .init(.POST, "/api/auth/request-verification", to: .auth, limit: .signIn),
    .init(.POST, "/api/auth/verify", to: .auth, limit: .signIn),
    .init(.POST, "/api/auth/verify/confirm", to: .auth, limit: .signIn),
    .init(.POST, "/api/auth/refresh", to: .auth, limit: .refresh),
    .init(.GET, "/api/auth/me", to: .auth, bearer: .required),
  ]

  private static let supabaseDoors: [Route] = [
    .init(.POST, "/auth/v1/signin/email", to: .auth, limit: .signIn),
    .init(.POST, "/auth/v1/signin/apple", to: .auth, limit: .signIn),
    .init(.POST, "/auth/v1/signup/email", to: .auth, limit: .signIn),
    .init(.POST, "/auth/v1/signout", to: .auth, bearer: .required),
    .init(.POST, "/auth/v1/signup", to: .auth, limit: .signIn),
    // Passwords and refresh tokens come by the same path, told apart by the query only. Whoever is signed in adds Apple.
    .init(
      .POST, "/auth/v1/token", to: .auth, bearer: .welcome, limit: .signIn, refreshQuery: "grant_type=refresh_token"),
    .init(.POST, "/auth/v1/otp", to: .auth, bearer: .welcome, limit: .signIn),
    .init(.POST, "/auth/v1/magiclink", to: .auth, bearer: .welcome, limit: .signIn),
    // A link in a mail: GET shows a page with a button, whose POST consumes.
    .init(.GET, "/auth/v1/verify", to: .auth),
    // Signing in, and by whoever is signed in adding an address or a number.
    .init(.POST, "/auth/v1/verify", to: .auth, bearer: .welcome, limit: .signIn),
    .init(.POST, "/auth/v1/recover", to: .auth, limit: .signIn),
    .init(.POST, "/auth/v1/resend", to: .auth, bearer: .welcome, limit: .signIn),
    .init(.GET, "/auth/v1/reauthenticate", to: .auth, bearer: .required, limit: .signIn),
    .init(.GET, "/auth/v1/.well-known/jwks.json", to: .auth),
    .init(.GET, "/auth/v1/user", to: .auth, bearer: .required),
    .init(.PUT, "/auth/v1/user", to: .auth, bearer: .required),
    .init(.POST, "/auth/v1/logout", to: .auth, bearer: .required),
  ]

  private static let accounts: [Route] = [
    .init(.POST, "/api/v1/users/resolve", to: .auth, bearer: .service),
    // It asks every service.
    .init(.GET, "/api/v1/users/me/export", to: .auth, bearer: .required, answerSeconds: 30),
    .init(.GET, "/api/v1/users/profile", to: .auth, bearer: .required),
    .init(.PATCH, "/api/v1/users/profile", to: .auth, bearer: .required),
    .init(.PUT, "/api/v1/users/profile", to: .auth, bearer: .required),
    .init(.DELETE, "/api/v1/users/profile", to: .auth, bearer: .required),
    .init(.PATCH, "/api/v1/users/profile/password", to: .auth, bearer: .required),
    .init(.PUT, "/api/v1/users/profile/password", to: .auth, bearer: .required),
    .init(.GET, "/users", to: .auth, bearer: .required),
    .init(.POST, "/users", to: .auth, bearer: .required),
    .init(.GET, "/users/me", to: .auth, bearer: .required),
    .init(.PATCH, "/users/me", to: .auth, bearer: .required),
    .init(.PATCH, "/users/me/language", to: .auth, bearer: .required),
    .init(.GET, "/users/{user}", to: .auth, bearer: .required),
    .init(.PATCH, "/users/{user}", to: .auth, bearer: .required),
  ]
}
