import Foundation
import Wire

/// The account of a user, whichever identities the user signs in with.
struct Account: Sendable, Hashable {
  let id: UserID
  /// The id of the account in APIs that use integers.
  let number: Int
  let email: String?
  let displayName: String?
  let locale: String?
  let timeZone: String?
  let avatarURL: String?
  /// The metadata that the app stores with the account, as JSON.
  let metadata: String?
  let isAnonymous: Bool
  /// Whether other users who have the phone number in their contacts can find the account by it.
  let isDiscoverable: Bool
  let createdAt: Date
  let lastLoginAt: Date?
  let isActive: Bool
  let verification: VerificationLevel

  /// The profile that other services receive.
  func profile(under policy: VerificationPolicy) -> UserProfile {
    UserProfile(
      id: id, email: email, displayName: displayName, isActive: isActive, isProven: policy.isProven(verification),
      createdAt: createdAt)
  }
}

/// An identity of an account: a subject of an issuer. Equal subjects of two issuers are two users.
struct Identity: Sendable, Hashable {
  let issuer: String
  let subject: String
  var email: String?
  var isEmailVerified = false
  var isPrivateEmail = false
  /// The display name, which some issuers send only once.
  var displayName: String?

  /// The issuer of e-mail addresses: the account has claimed or verified them.
  static let emailIssuer = "email"
  static let phoneIssuer = "phone"
  static let externalIDIssuer = "external"
  static let developerIssuer = "developer"

  /// Whether the e-mail address of the identity becomes the account's. The address that an external system sends for
  /// its user is only displayed.
  var claimsEmail: Bool { issuer != Self.externalIDIssuer }

  /// The identity of a user who receives the mail of an address.
  static func verifiedEmail(_ email: EmailAddress) -> Identity {
    Identity(issuer: emailIssuer, subject: email.canonical, email: email.text, isEmailVerified: true)
  }

  /// A user by an external system's id (`users/resolve`), in a namespace of its own.
  static func externalID(_ id: String) -> Identity { Identity(issuer: externalIDIssuer, subject: id) }

  /// A user of `dev/token`.
  static func developer(_ email: EmailAddress) -> Identity {
    Identity(issuer: developerIssuer, subject: email.canonical, email: email.text)
  }
}

/// A display name: one line of 1 to 120 characters.
enum DisplayName {
  /// - Throws: the validation failure that names `field`. Returns nil for a blank name.
  static func optional(_ raw: String?, field: String) throws(Failure) -> String? {
    guard let name = raw?.trimmingCharacters(in: .whitespacesAndNewlines), !name.isEmpty else { return nil }
    guard name.unicodeScalars.count <= 120, !name.unicodeScalars.contains(where: { $0.value < 0x20 }) else {
      throw .invalid(.init(field, "must be one line of at most 120 characters"))
    }
    return name
  }
}
