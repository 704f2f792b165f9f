import Foundation
import Wire

/// A person, however they sign in.
struct Account: Sendable, Hashable {
  let id: UserID
  /// The same account for apps that know no UUIDs.
  let number: Int
  let email: String?
  let displayName: String?
  let locale: String?
  let timeZone: String?
  let avatarURL: String?
  /// What the app itself keeps with the account, as JSON.
  let metadata: String?
  let isAnonymous: Bool
  /// Whether others who know the phone number are told that it has an account.
  let isDiscoverable: Bool
  let createdAt: Date
  let lastLoginAt: Date?
  let isActive: Bool
  let proof: Proof

  /// What other services may know.
  func profile(under rule: ProofRule) -> UserProfile {
    UserProfile(
      id: id, email: email, displayName: displayName, isActive: isActive, isProven: rule.isProven(proof),
      createdAt: createdAt)
  }
}

/// One way in which an account is known: a subject of an issuer. Equal subjects of two issuers are two people.
struct Identity: Sendable, Hashable {
  let issuer: String
  let subject: String
  var email: String?
  var isEmailVerified = false
  var isPrivateEmail = false
  /// The name to show, which some issuers tell only once.
  var displayName: String?

  /// The issuer of addresses: an account's own when it has claimed or verified one.
  static let emailIssuer = "email"
  static let phoneIssuer = "phone"
  static let externalIssuer = "external"
  static let developerIssuer = "developer"

  /// Whether the address that comes with it becomes the account's. What an outside system says of its users is only kept.
  var claimsEmail: Bool { issuer != Self.externalIssuer }

  /// Whoever reads the mail of an address.
  static func reader(of email: EmailAddress) -> Identity {
    Identity(issuer: emailIssuer, subject: email.canonical, email: email.text, isEmailVerified: true)
  }

  /// What outside systems call a user; a namespace of its own.
  static func external(_ id: String) -> Identity { Identity(issuer: externalIssuer, subject: id) }

  /// What `dev/token` made.
  static func developer(_ email: EmailAddress) -> Identity {
    Identity(issuer: developerIssuer, subject: email.canonical, email: email.text)
  }
}

/// A name to show: one line, 1 to 120 characters.
enum DisplayName {
  /// - Throws: the validation failure that names `field`. Blank is nil.
  static func optional(_ raw: String?, field: String) throws(Failure) -> String? {
    guard let name = raw?.trimmingCharacters(in: .whitespacesAndNewlines), !name.isEmpty else { return nil }
    guard name.unicodeScalars.count <= 120, !name.unicodeScalars.contains(where: { $0.value < 0x20 }) else {
      throw .invalid(.init(field, "must be one line of at most 120 characters"))
    }
    return name
  }
}
