import Hummingbird
import Web
import Wire

/// The API through which a session was opened. It decides on the lifetimes of the session's tokens for as long as the
/// session lasts, whichever API refreshes them. Stored in the column `door`.
enum ClientAPI: String, Sendable {
  case app
  /// `/auth/v1`, as Supabase's client libraries call it.
  case supabase
  /// `sign_in` and `sign_up`, for apps that keep one long-lived access token.
  case signIn = "sign_in"
}

/// How a user signed in: the methods that GoTrue lists in the claim `amr`.
enum SignInMethod: String, Sendable {
  case password, otp, anonymous
  /// By an identity token of Apple's.
  case oauth
  case magicLink = "magiclink"
  case emailSignUp = "email/signup"
  case emailChange = "email_change"
  case recovery
}

/// Where and how a session is opened.
struct SignInContext: Sendable {
  let api: ClientAPI
  /// The `User-Agent`, at most 200 characters; shown to the user in the list of sessions.
  let device: String?
  /// The IP address of the client, of IPv6 the first 64 bits.
  let clientAddress: String
  /// Only encoded in the access tokens of `/auth/v1`.
  var method = SignInMethod.otp
  /// What the session is opened by.
  var origin = SessionOrigin.signIn

  func by(_ method: SignInMethod) -> SignInContext {
    var context = self
    context.method = method
    return context
  }
}

/// What a session is opened by.
enum SessionOrigin: Sendable {
  case signIn
  /// A request for which an access token is enough. The new session is not younger than the token's session, which is
  /// nil for a bearer without a session.
  case bearer(SessionID?)
}

extension Request {
  /// The context of a session that this request opens.
  func signInContext(_ api: ClientAPI) -> SignInContext {
    let device = headers[.userAgent].map { String($0.prefix(200)) }
    return SignInContext(api: api, device: device.flatMap { $0.isEmpty ? nil : $0 }, clientAddress: clientAddress)
  }
}
