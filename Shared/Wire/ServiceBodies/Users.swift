import Foundation

/// A user, for other services.
package struct UserProfile: Codable, Sendable, Hashable {
  package let id: UserID
  package let email: String?
  package let displayName: String?
  package let isActive: Bool
  /// See ``Person/isProven``.
  package let isProven: Bool
  package let createdAt: Date

  package init(
    id: UserID, email: String?, displayName: String?, isActive: Bool, isProven: Bool = true, createdAt: Date
  ) {
    self.id = id
    self.email = email
    self.displayName = displayName
    self.isActive = isActive
    self.isProven = isProven
    self.createdAt = createdAt
  }

  package init(from decoder: any Decoder) throws {
    let body = try decoder.container(keyedBy: CodingKeys.self)
    id = try body.decode(UserID.self, forKey: .id)
    email = try body.decodeIfPresent(String.self, forKey: .email)
    displayName = try body.decodeIfPresent(String.self, forKey: .displayName)
    isActive = try body.decode(Bool.self, forKey: .isActive)
    // An older auth does not send it.
    isProven = try body.decodeIfPresent(Bool.self, forKey: .isProven) ?? false
    createdAt = try body.decode(Date.self, forKey: .createdAt)
  }

  private enum CodingKeys: String, CodingKey {
    case id, email
    case displayName = "display_name"
    case isActive = "is_active"
    case isProven = "is_proven"
    case createdAt = "created_at"
  }
}

/// A user, as other members of the same group or list see them.
package struct Person: Codable, Sendable, Hashable {
  package let id: UserID
  /// An integer id of the user, for apps that do not support UUIDs. Never reused.
  package let number: Int
  package let name: String?
  package let email: String?
  package let phone: String?
  /// A language tag (BCP 47): `en`, `pt-BR`.
  package let locale: String?
  /// An IANA time zone name: `Europe/Oslo`.
  package let timeZone: String?
  /// Whether they have a verified e-mail address or phone number, or an identity of Apple, an external issuer, an
  /// external system or a developer. Users who are not proven cannot use features that reach other people.
  package let isProven: Bool

  package init(
    id: UserID, number: Int, name: String?, email: String? = nil, phone: String? = nil, locale: String? = nil,
    timeZone: String? = nil, isProven: Bool = true
  ) {
    self.id = id
    self.number = number
    self.name = name
    self.email = email
    self.phone = phone
    self.locale = locale
    self.timeZone = timeZone
    self.isProven = isProven
  }

  /// What apps call a first name: the whole name, which may have several words ("Anna Maria"). Empty without a name.
  package var firstName: String { name ?? "" }

  /// The first word of the name, for public pages. Empty without a name.
  package var shortName: String { name?.split(separator: " ").first.map(String.init) ?? "" }

  package init(from decoder: any Decoder) throws {
    let body = try decoder.container(keyedBy: CodingKeys.self)
    id = try body.decode(UserID.self, forKey: .id)
    number = try body.decode(Int.self, forKey: .number)
    name = try body.decodeIfPresent(String.self, forKey: .name)
    email = try body.decodeIfPresent(String.self, forKey: .email)
    phone = try body.decodeIfPresent(String.self, forKey: .phone)
    locale = try body.decodeIfPresent(String.self, forKey: .locale)
    timeZone = try body.decodeIfPresent(String.self, forKey: .timeZone)
    // An older auth does not send it.
    isProven = try body.decodeIfPresent(Bool.self, forKey: .isProven) ?? false
  }

  private enum CodingKeys: String, CodingKey {
    case id, number, name, email, phone, locale
    case timeZone = "time_zone"
    case isProven = "is_proven"
  }
}

/// Requests people by id or by verified phone number, at most ``idsMax`` of each at once.
package struct PeopleQuery: Codable, Sendable, Hashable {
  package static let idsMax = 500

  package let ids: [UserID]
  /// In international form (E.164).
  package let phones: [String]?

  package init(ids: [UserID], phones: [String]? = nil) {
    self.ids = ids
    self.phones = phones
  }
}

/// The people that were found, in no order. Unknown, deactivated and erased users are left out.
package struct People: Codable, Sendable, Hashable {
  package let people: [Person]

  package init(people: [Person]) { self.people = people }
}

/// Requests the user with an external system's id, who is created if necessary.
package struct ResolveUser: Codable, Sendable {
  /// In UTF-8. Other identifiers of users are not longer.
  package static let externalIDBytesMax = 255

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

/// The reply to ``ResolveUser``.
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

/// Sessions whose access tokens must be rejected, each until the last of its tokens has expired.
package struct EndedSessions: Codable, Sendable, Hashable {
  /// One ended session.
  package struct Entry: Codable, Sendable, Hashable {
    package let session: SessionID
    package let until: Date

    package init(session: SessionID, until: Date) {
      self.session = session
      self.until = until
    }
  }

  package let sessions: [Entry]
  /// The `since` of the next call. The intervals overlap, so that a late commit is not missed.
  package let cursor: Date
  /// The `after` of the next page; nil on the last page.
  package let next: SessionID?
  /// Changes when sessions end. A call with it waits until it changes (`wait`), where an older auth answers at once and
  /// without a version.
  package let version: String?
  /// The longest `wait` that this auth allows, in seconds; nil for an older one, which allows
  /// ``waitSecondsOfOlderAuth``.
  package let waitSecondsMax: Int?

  /// The maximum size of a page.
  package static let pageMax = 5000
  /// How long a call with a version may wait: calls cost each service and auth most of what they use at rest, and an
  /// auth that hangs is to be noticed. Shorter than a request may take.
  package static let waitSecondsMax = 25
  package static let waitSecondsOfOlderAuth = 8

  private enum CodingKeys: String, CodingKey {
    case sessions, cursor, next, version
    case waitSecondsMax = "wait_max"
  }

  package init(
    sessions: [Entry], cursor: Date, next: SessionID? = nil, version: String? = nil, waitSecondsMax: Int? = nil
  ) {
    self.sessions = sessions
    self.cursor = cursor
    self.next = next
    self.version = version
    self.waitSecondsMax = waitSecondsMax
  }

  /// Fetches all pages, and returns them with the cursor of the first.
  package static func all(_ page: (SessionID?) async throws -> EndedSessions) async throws -> EndedSessions {
    let first = try await page(nil)
    var (sessions, next) = (first.sessions, first.next)
    while let last = next {
      let more = try await page(last)
      sessions += more.sessions
      next = more.next
    }
    return EndedSessions(
      sessions: sessions, cursor: first.cursor, version: first.version, waitSecondsMax: first.waitSecondsMax)
  }
}

extension EndedSessions.Entry {
  /// How long the local user of an external issuer's token may be cached.
  package static let cachedSeconds = 600.0

  /// Ends all tokens of external issuers for a user, as the account was deactivated at `date`. Those tokens have no
  /// session, so the user's id is used in its place. Users who were cached before must be fetched again.
  package init(externalTokensOf user: UserID, at date: Date) {
    self.init(session: .externalTokens(of: user), until: date + Self.cachedSeconds + 60)
  }
}

extension SessionID {
  /// The id that stands for all of a user's tokens of external issuers.
  package static func externalTokens(of user: UserID) -> SessionID { SessionID(user.uuid) }
}
