/// Asks for the user whom an outside issuer's bearer names, made when they are seen for the first time.
package struct OutsideUser: Codable, Sendable, Hashable {
  package let issuer: String
  package let subject: String
  package let email: String?
  package let isEmailVerified: Bool
  package let displayName: String?
  /// The issuer's subjects are the same people as the `external_id` of `users/resolve`.
  package let isExternal: Bool

  package init(
    issuer: String, subject: String, email: String? = nil, isEmailVerified: Bool = false, displayName: String? = nil,
    isExternal: Bool = false
  ) {
    self.issuer = issuer
    self.subject = subject
    self.email = email
    self.isEmailVerified = isEmailVerified
    self.displayName = displayName
    self.isExternal = isExternal
  }

  /// Whom an issuer calls so; of two issuers it is two people.
  package struct Name: Hashable, Sendable {
    let issuer: String
    let subject: String
  }

  package var name: Name { Name(issuer: issuer, subject: subject) }

  private enum CodingKeys: String, CodingKey {
    case issuer, subject, email
    case isEmailVerified = "email_verified"
    case displayName = "display_name"
    case isExternal = "is_external"
  }
}
