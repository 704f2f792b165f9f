import Crypto
import Foundation
import Tokens
import Wire

/// A code, and for addresses also a link, that was sent to somebody who is to prove that they have it.
struct Challenge: Sendable {
  /// What the answer is for. A code counts for nothing else.
  enum Kind: String, Codable, Sendable, CaseIterable {
    /// Signing in with a number or an address.
    case phone, email
    /// Setting a new password.
    case recovery
    /// Showing that the address of a new account is one's own.
    case confirmation
    /// Adding a number or an address to the account that one is signed in to.
    case addPhone = "add_phone"
    case addEmail = "add_email"
    /// Replacing the number or the address of the account that has asked for it.
    case changePhone = "change_phone"
    case changeEmail = "change_email"
    /// Showing once more that one is the user of the account that one is signed in to.
    case reauthentication
    /// The code that a link has given to an app, to be exchanged for a session (PKCE, RFC 7636).
    case exchange

    /// Those that a link answers, too. Not what is added to an account: whoever reads the mail of an address that was
    /// mistyped would make it a way in to somebody else's account.
    static let linked: [Kind] = [.email, .confirmation, .recovery]
    /// Those whose link has a page. A new address has a link only for an app that shows PKCE's verifier afterwards.
    static let paged: [Kind] = linked + [.changeEmail]
    /// Those whose code is mailed and can be typed by anybody.
    static let mailed: [Kind] = paged
    /// Those that end with the sessions of the account that has asked for them.
    static let withdrawn: [Kind] = [.addPhone, .addEmail, .changePhone, .changeEmail, .reauthentication, .exchange]
  }

  /// What the answer needs, sealed in the database.
  struct Content: Codable, Sendable {
    /// The number in E.164, or the address as it was typed.
    var subject: String
    var name: String?
    var metadata: JSONValue?
    var createsUser = true
    /// Where the link's page leads, one of those that are configured.
    var redirect: String?
    /// What the app has sent along (PKCE): the link then gives it a code instead of a session.
    var codeChallenge: CodeChallenge?
    /// What was answered by the link that gave the code to exchange.
    var exchanged: Kind?
  }

  let kind: Kind
  let content: Content
  /// Whose it is, when it was asked for by somebody signed in.
  var account: UserID?
  let lifetime: Duration

  static let triesMax = 5
  /// Of a mailed code, from all places together. One place has five an hour (``Quota/mailedCodeFromHere``), so that a
  /// stranger there cannot use up somebody's code.
  private static let triesMaxFromAll = 20

  /// How often codes of these kinds can be tried.
  static func triesMax(of kinds: [Kind]) -> Int {
    kinds.allSatisfy { Kind.mailed.contains($0) } ? triesMaxFromAll : triesMax
  }

  /// How many codes of one kind and subject can be answered: whoever asks for one makes no earlier one useless.
  static let openMax = 10
}

/// The SHA-256 of a secret that only the app knows (RFC 7636 §4.2); `plain` is not taken.
struct CodeChallenge: Codable, Sendable {
  private let hash: [UInt8]

  /// - Throws: the validation failure for another method, or for what is no SHA-256 in base64url.
  init(_ text: String, method: String?) throws(Failure) {
    guard method?.lowercased() == "s256" else { throw .invalid(.init("code_challenge_method", "must be s256")) }
    guard let hash = Base64URL.decode(Array(text.utf8)), hash.count == SHA256.byteCount else {
      throw .invalid(.init("code_challenge", "must be a SHA-256 in base64url"))
    }
    self.hash = hash
  }

  /// Whether `verifier` is the secret (RFC 7636 §4.6).
  func matches(_ verifier: String) -> Bool {
    (1...128).contains(verifier.utf8.count) && SHA256.hash(data: Data(verifier.utf8)) == Data(hash)
  }
}

/// The part of a link that makes it one's own: 256 random bits, of which the database has the digest.
struct LinkToken: Sendable {
  let text: String

  init(presented text: String) { self.text = text }

  static func new() -> LinkToken { LinkToken(presented: RefreshToken.new().text) }

  var hash: [UInt8] { Array(SHA256.hash(data: Data(text.utf8))) }
}

/// A challenge that was answered.
struct Answered: Sendable {
  let kind: Challenge.Kind
  let content: Challenge.Content
  let account: UserID?
}

extension Failure {
  /// Wrong, used, expired, or tried too often: nobody is told which.
  static let invalidCode = Failure(.malformed, "invalid_code", "This code is not valid. Ask for a new one.")
}
