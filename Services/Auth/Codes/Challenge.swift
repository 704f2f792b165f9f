import Foundation
import Wire

/// A request to prove control of a phone number or e-mail address: a one-time code that was sent there, for addresses
/// also a link.
struct Challenge: Sendable {
  /// What the code is for. It is accepted for nothing else.
  enum Kind: String, Codable, Sendable, CaseIterable {
    /// Signing in with a phone number or an e-mail address.
    case phone, email
    /// Setting a new password.
    case recovery
    /// Confirming the e-mail address of a new account.
    case confirmation
    /// Adding a phone number or an e-mail address to the account of the signed-in user.
    case addPhone = "add_phone"
    case addEmail = "add_email"
    /// Replacing the phone number or the e-mail address of the account that asked for it.
    case changePhone = "change_phone"
    case changeEmail = "change_email"
    /// Confirming again that the caller is the user of the account that they are signed in to.
    case reauthentication
    /// The authorization code that a link gave to an app, to be exchanged for a session (PKCE, RFC 7636).
    case exchange

    /// Kinds that a link answers as well as a code. Adding an address to an account is not among them: the reader of
    /// the mail of a mistyped address could use the link to sign in to somebody else's account.
    static let answeredByLink: [Kind] = [.email, .confirmation, .recovery]
    /// Kinds whose link leads to ``MailLinkPage``. A new address has a link only for an app that presents the PKCE
    /// verifier afterwards.
    static let withLinkPage: [Kind] = answeredByLink + [.changeEmail]
    /// Kinds whose code is mailed and can be entered without signing in.
    static let mailed: [Kind] = withLinkPage
    /// Kinds that are revoked together with the sessions of the account that asked for them.
    static let revokedWithSessions: [Kind] = [
      .addPhone, .addEmail, .changePhone, .changeEmail, .reauthentication, .exchange,
    ]
  }

  /// What is needed when the challenge is answered; stored encrypted.
  struct Content: Codable, Sendable {
    /// The phone number in E.164, or the e-mail address as it was typed.
    var subject: String
    var name: String?
    var metadata: JSONValue?
    var createsUser = true
    /// Where the link's page redirects to: one of the configured URLs.
    var redirect: String?
    /// The app's PKCE code challenge: the link then gives the app an authorization code instead of a session.
    var codeChallenge: PKCECodeChallenge?
    /// Of an ``Kind/exchange``: the kind of the challenge that the link answered.
    var exchanged: Kind?
  }

  let kind: Kind
  let content: Content
  /// The account of the user who asked for it, when they were signed in.
  var account: UserID?
  let lifetime: Duration

  static let triesMax = 5
  /// Of a mailed code, from all client addresses together. A single client address has five an hour
  /// (``Quota/mailedCodePerClientAddress``), so that a stranger there cannot use up another user's code.
  private static let triesMaxFromAll = 20

  /// How often codes of these kinds can be tried.
  static func triesMax(of kinds: [Kind]) -> Int {
    kinds.allSatisfy { Kind.mailed.contains($0) } ? triesMaxFromAll : triesMax
  }

  /// How many codes of one kind and subject are valid at the same time: a new request does not invalidate earlier
  /// codes.
  static let openMax = 10
}

/// A challenge as it is read from the database: a pending one, or the one that was just answered.
struct StoredChallenge: Sendable {
  let kind: Challenge.Kind
  let content: Challenge.Content
  let account: UserID?
}

extension Failure {
  /// Wrong, used, expired, or tried too often: the response does not say which.
  static let invalidCode = Failure(.malformed, "invalid_code", "This code is not valid. Ask for a new one.")
}
