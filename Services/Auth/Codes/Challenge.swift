import Crypto
import Foundation
import Tokens
import Wire

/// A code, and for addresses also a link, that was sent to somebody who is to prove that they have it.
struct Challenge: Sendable {
  /// What the answer is for. A code counts for nothing else.
  enum Kind: String, Sendable, CaseIterable {
    /// Signing in with a number or an address.
    case phone, email
    /// Setting a new password.
    case recovery
    /// Showing that the address of a new account is one's own.
    case confirmation
    /// Adding a number or an address to the account that one is signed in to.
    case addPhone = "add_phone"
    case addEmail = "add_email"

    /// Those that a link answers, too. Not what is added to an account: whoever reads the mail of an address that was
    /// mistyped would make it a way in to somebody else's account.
    static let linked: [Kind] = [.email, .confirmation, .recovery]
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
  }

  let kind: Kind
  let content: Content
  /// Whose it is, when it was asked for by somebody signed in.
  var account: UserID?
  let lifetime: Duration

  static let triesMax = 5
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
