/// Requests the local user of an external issuer's token, who is created at the first request.
package struct ExternalUser: Codable, Sendable, Hashable {
  package let issuer: String
  package let subject: String
  package let email: String?
  package let isEmailVerified: Bool
  package let displayName: String?
  /// Whether the issuer's subjects are the `external_id` of `users/resolve`.
  package let sharesExternalIDs: Bool

  package init(
    issuer: String, subject: String, email: String? = nil, isEmailVerified: Bool = false, displayName: String? = nil,
    sharesExternalIDs: Bool = false
  ) {
    self.issuer = issuer
    self.subject = subject
    self.email = email
    self.isEmailVerified = isEmailVerified
    self.displayName = displayName
    self.sharesExternalIDs = sharesExternalIDs
  }

  /// Issuer and subject: the same subject of two issuers is two users.
  package struct Identity: Hashable, Sendable {
    let issuer: String
    let subject: String
  }

  package var identity: Identity { Identity(issuer: issuer, subject: subject) }

  private enum CodingKeys: String, CodingKey {
    case issuer, subject, email
    case isEmailVerified = "email_verified"
    case displayName = "display_name"
    case sharesExternalIDs = "is_external"
  }
}
