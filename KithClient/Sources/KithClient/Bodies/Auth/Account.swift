import Foundation

/// The signed-in user's account.
public struct Account: Sendable, Equatable, Codable, Identifiable {
  public let id: String
  @NullCodable public private(set) var email: String?
  /// nil before it was given.
  @NullCodable public private(set) var displayName: String?
  public let createdAt: Date

  private enum CodingKeys: String, CodingKey {
    case id, email
    case displayName = "display_name"
    case createdAt = "created_at"
  }

  public init(id: String, email: String?, displayName: String?, createdAt: Date) {
    self.id = id
    self.email = email
    self.displayName = displayName
    self.createdAt = createdAt
  }
}

/// What the user can change about themselves.
public struct Profile: Sendable, Equatable, Codable {
  /// The number by which lists and tasks name the user.
  public let id: Int
  public let email: String
  @NullCodable public private(set) var name: String?
  /// The name once more, for apps that read this member.
  @NullCodable public private(set) var displayName: String?
  /// Always `client`.
  public let role: String?
  public let timezone: String?
  public let hasPassword: Bool?
  @NullCodable public private(set) var avatarURL: String?
  /// A language tag.
  @NullCodable public private(set) var locale: String?
  /// The id everywhere else.
  public let uuid: String?

  private enum CodingKeys: String, CodingKey {
    case id, email, name, role, timezone, locale, uuid
    case displayName = "display_name"
    case hasPassword = "has_password"
    case avatarURL = "avatar_url"
  }

  public init(
    id: Int, email: String, name: String?, displayName: String?, role: String?, timezone: String?, hasPassword: Bool?,
    avatarURL: String?, locale: String?, uuid: String?
  ) {
    self.id = id
    self.email = email
    self.name = name
    self.displayName = displayName
    self.role = role
    self.timezone = timezone
    self.hasPassword = hasPassword
    self.avatarURL = avatarURL
    self.locale = locale
    self.uuid = uuid
  }
}

/// The user who signed in by phone. `firstName` is empty until it was given.
public struct PhoneUser: Sendable, Equatable, Codable, Identifiable {
  public let id: String
  public let phoneNumber: String
  /// The number once more; nil for a user without one.
  @NullCodable public private(set) var phone: String?
  public let firstName: String

  private enum CodingKeys: String, CodingKey {
    case id, phone
    case phoneNumber = "phone_number"
    case firstName = "first_name"
  }

  public init(id: String, phoneNumber: String, phone: String?, firstName: String) {
    self.id = id
    self.phoneNumber = phoneNumber
    self.phone = phone
    self.firstName = firstName
  }
}
