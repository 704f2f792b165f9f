import ClientBodies
import Foundation
import Wire

/// Changes to a profile, at the top level or in `user`. For apps that identify users by number.
struct NumberedUserChangesBody: Decodable {
  private struct Fields: Decodable {
    let name: String?
    let display_name: String?
    let avatar_url: String?
    let locale: String?
    let timezone: String?
    let time_zone: String?
    let discoverable: Bool?
  }

  private let fields: Fields

  private enum Key: String, CodingKey { case user }

  init(from decoder: any Decoder) throws {
    let body = try decoder.container(keyedBy: Key.self)
    fields = try body.decodeIfPresent(Fields.self, forKey: .user) ?? Fields(from: decoder)
  }

  func changes() throws -> ProfileChanges {
    try ProfileChanges(
      displayName: fields.name ?? fields.display_name, avatarURL: fields.avatar_url, locale: fields.locale,
      timeZone: fields.timezone ?? fields.time_zone, isDiscoverable: fields.discoverable)
  }
}

/// A password, at the top level or in `user`.
struct PasswordOnlyBody: Decodable {
  let password: String?

  private enum Key: String, CodingKey { case user, password }

  init(from decoder: any Decoder) throws {
    let outer = try decoder.container(keyedBy: Key.self)
    let body = try outer.contains(.user) ? outer.nestedContainer(keyedBy: Key.self, forKey: .user) : outer
    password = try body.decodeIfPresent(String.self, forKey: .password)
  }
}

/// A user for apps that identify users by number. Such an app cannot decode a user whose `email` is null.
extension ClientBodies.Profile {
  init(_ profile: Profile) {
    let account = profile.account
    self.init(
      id: account.number, email: account.email ?? "", name: account.displayName, displayName: account.displayName,
      role: "client", timezone: account.timeZone ?? "UTC", hasPassword: profile.hasPassword,
      avatarURL: account.avatarURL, locale: account.locale, uuid: account.id.description)
  }
}

/// A user for apps with prefixed ids.
struct PrefixedUserBody: Encodable {
  let id: String
  @NullCodable var email: String?
  @NullCodable var name: String?
  @NullCodable var displayName: String?
  @NullCodable var avatarUrl: String?
  let profileStatus: String
  let locale: String
  @NullCodable var timeZone: String?
  let createdAt: Date
  @NullCodable var lastLoginAt: Date?

  init(_ profile: Profile) {
    let account = profile.account
    id = "user_\(account.id)"
    _email = NullCodable(wrappedValue: account.email)
    _name = NullCodable(wrappedValue: account.displayName)
    _displayName = NullCodable(wrappedValue: account.displayName)
    _avatarUrl = NullCodable(wrappedValue: account.avatarURL)
    profileStatus = account.displayName == nil ? "INCOMPLETE" : "COMPLETE"
    locale = account.locale ?? "en"
    _timeZone = NullCodable(wrappedValue: account.timeZone)
    createdAt = account.createdAt
    _lastLoginAt = NullCodable(wrappedValue: account.lastLoginAt)
  }

  /// Whether `text` is the user's id, with or without its prefix.
  static func isID(_ text: String, of user: UserID) -> Bool {
    UserID(text.hasPrefix("user_") ? String(text.dropFirst(5)) : text) == user
  }
}

/// Changes to a profile, for apps with prefixed ids. Their names have 2 to 80 characters; their locales are those that
/// the apps are translated to.
struct PrefixedUserChangesBody: Decodable {
  let id: String?
  let userId: String?
  let name: String?
  let displayName: String?
  let avatarUrl: String?
  let locale: String?
  let language: String?
  let timeZone: String?

  private static let locales: Set = [
    "en", "tr", "es", "it", "fr", "nb", "nl", "pt-BR", "de", "ar", "ja", "zh-Hans", "hi", "el",
  ]

  func changes() throws -> ProfileChanges {
    if let name = name ?? displayName {
      let trimmed = name.trimmingCharacters(in: .whitespacesAndNewlines)
      guard (2...80).contains(trimmed.unicodeScalars.count) else {
        throw Failure.invalid(.init("name", "must have 2 to 80 characters"))
      }
    }
    if let locale = locale ?? language, !Self.locales.contains(locale) {
      throw Failure.invalid(.init("locale", "must be one of \(Self.locales.sorted().joined(separator: ", "))"))
    }
    return try ProfileChanges(
      displayName: name ?? displayName, avatarURL: avatarUrl, locale: locale ?? language, timeZone: timeZone)
  }
}
