import Foundation

/// A way in which the user can sign in.
public struct Identity: Sendable, Equatable, Codable {
  /// `apple`, `email`, `phone`, or the URL of an outside issuer.
  public let provider: String
  public let subject: String?
  @NullCodable public private(set) var email: String?
  public let verified: Bool?
  public let createdAt: Date?

  private enum CodingKeys: String, CodingKey {
    case provider, subject, email, verified
    case createdAt = "created_at"
  }

  public init(provider: String, subject: String?, email: String?, verified: Bool?, createdAt: Date?) {
    self.provider = provider
    self.subject = subject
    self.email = email
    self.verified = verified
    self.createdAt = createdAt
  }
}

/// How the user can sign in.
package struct IdentitiesAnswer: Sendable, Codable {
  package let identities: [Identity]

  package init(identities: [Identity]) {
    self.identities = identities
  }
}
