import Foundation

/// A user as other services see one.
package struct UserProfile: Codable, Sendable, Hashable {
  package let id: UserID
  package let email: String?
  package let displayName: String?
  package let isActive: Bool
  /// Whether somebody has vouched for who they are: see ``Person/isProven``.
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
    // An auth from before does not say it.
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

/// A user as others in the same group or list see them.
package struct Person: Codable, Sendable, Hashable {
  package let id: UserID
  /// The same user by a small integer, for apps that know no UUIDs. Never given to another.
  package let number: Int
  package let name: String?
  package let email: String?
  package let phone: String?
  /// A language tag as the apps know them (BCP 47): `en`, `pt-BR`.
  package let locale: String?
  /// An IANA name: `Europe/Oslo`.
  package let timeZone: String?
  /// Whether an address or a number of theirs is confirmed, or Apple, an outside issuer, an outside system or a developer
  /// has vouched for them. Who has proven nothing uses what is theirs, and nothing that reaches others.
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

  /// What apps call a first name: the name as it was given, which may be of several words ("Anna Maria"). Empty for who
  /// has not told theirs.
  package var firstName: String { name ?? "" }

  /// The first word of the name, for pages that strangers read; empty for who has not told theirs.
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
    // An auth from before does not say it.
    isProven = try body.decodeIfPresent(Bool.self, forKey: .isProven) ?? false
  }

  private enum CodingKeys: String, CodingKey {
    case id, number, name, email, phone, locale
    case timeZone = "time_zone"
    case isProven = "is_proven"
  }
}

/// Asks who several users are, by id or by verified phone number, at most ``idsMax`` of each at once.
package struct WhoAre: Codable, Sendable {
  package static let idsMax = 500

  package let ids: [UserID]
  /// In international form (E.164).
  package let phones: [String]?

  package init(ids: [UserID], phones: [String]? = nil) {
    self.ids = ids
    self.phones = phones
  }
}

/// The users that are there, in no order; who is unknown, deactivated or erased is left out.
package struct People: Codable, Sendable {
  package let people: [Person]

  package init(people: [Person]) { self.people = people }
}

/// Asks for the user that an outside system knows by `externalID`, made when it is not there yet.
package struct ResolveUser: Codable, Sendable {
  /// In UTF-8. Nothing else by which users are found is longer.
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
  /// Pass it as `after` to have the next page; nil with the last one.
  package let next: SessionID?

  /// As many as a page may have.
  package static let pageMax = 5000

  package init(sessions: [Entry], cursor: Date, next: SessionID? = nil) {
    self.sessions = sessions
    self.cursor = cursor
    self.next = next
  }

  /// Every page, under the cursor of the first.
  package static func all(_ page: (SessionID?) async throws -> EndedSessions) async throws -> EndedSessions {
    let first = try await page(nil)
    var (sessions, next) = (first.sessions, first.next)
    while let last = next {
      let more = try await page(last)
      sessions += more.sessions
      next = more.next
    }
    return EndedSessions(sessions: sessions, cursor: first.cursor)
  }
}

extension EndedSessions.Entry {
  /// How long it may be remembered whose a bearer of an outside issuer is.
  package static let rememberedSeconds = 600.0

  /// Bearers of outside issuers belong to no session of ours: the user's own id stands for all of them. It says that the
  /// account has been deactivated at `date`, so whatever was remembered before has to be asked for again.
  package init(outsideBearersOf user: UserID, at date: Date) {
    self.init(session: .outsideBearers(of: user), until: date + Self.rememberedSeconds + 60)
  }
}

extension SessionID {
  package static func outsideBearers(of user: UserID) -> SessionID { SessionID(user.uuid) }
}
