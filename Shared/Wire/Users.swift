import Foundation

/// A user as other services see one.
package struct UserProfile: Codable, Sendable, Hashable {
  package let id: UserID
  package let email: String?
  package let displayName: String?
  package let isActive: Bool
  package let createdAt: Date

  package init(id: UserID, email: String?, displayName: String?, isActive: Bool, createdAt: Date) {
    self.id = id
    self.email = email
    self.displayName = displayName
    self.isActive = isActive
    self.createdAt = createdAt
  }

  private enum CodingKeys: String, CodingKey {
    case id, email
    case displayName = "display_name"
    case isActive = "is_active"
    case createdAt = "created_at"
  }
}

/// Asks for the user that an outside system knows by `externalID`, made when it is not there yet.
package struct ResolveUser: Codable, Sendable {
  package let externalID: String
  package var email: String?
  package var displayName: String?

  package init(externalID: String, email: String? = nil, displayName: String? = nil) {
    self.externalID = externalID
    self.email = email
    self.displayName = displayName
  }

  private enum CodingKeys: String, CodingKey {
    case email
    case externalID = "external_id"
    case displayName = "display_name"
  }
}

package struct ResolvedUser: Codable, Sendable, Hashable {
  package let userID: UserID
  package let created: Bool

  package init(userID: UserID, created: Bool) {
    self.userID = userID
    self.created = created
  }

  private enum CodingKeys: String, CodingKey {
    case created
    case userID = "user_id"
  }
}

/// Sessions whose access tokens must no longer be believed, each until the last of its tokens has expired.
package struct EndedSessions: Codable, Sendable, Hashable {
  package struct Entry: Codable, Sendable, Hashable {
    package let session: SessionID
    package let until: Date

    package init(session: SessionID, until: Date) {
      self.session = session
      self.until = until
    }
  }

  package let sessions: [Entry]
  /// Pass it as `since` in the next call. Calls overlap, so that a commit that came late is not missed.
  package let cursor: Date

  package init(sessions: [Entry], cursor: Date) {
    self.sessions = sessions
    self.cursor = cursor
  }
}
