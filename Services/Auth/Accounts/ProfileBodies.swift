import Foundation
import Wire

/// Changes at the top, or within `user`.
struct NumberedChangesBody: Decodable {
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

  func changes() throws(Failure) -> ProfileChanges {
    try ProfileChanges(
      displayName: fields.name ?? fields.display_name, avatarURL: fields.avatar_url, locale: fields.locale,
      timeZone: fields.timezone ?? fields.time_zone, isDiscoverable: fields.discoverable)
  }
}

/// The password, at the top or within `user`.
struct PasswordOnlyBody: Decodable {
  let password: String?

  private enum Key: String, CodingKey { case user, password }

  init(from decoder: any Decoder) throws {
    let outer = try decoder.container(keyedBy: Key.self)
    let body = try outer.contains(.user) ? outer.nestedContainer(keyedBy: Key.self, forKey: .user) : outer
    password = try body.decodeIfPresent(String.self, forKey: .password)
  }
}

/// A user as apps with prefixed ids see one.
struct MemberBody: Encodable {
  let id: String
  @OrNull var email: String?
  @OrNull var name: String?
  @OrNull var displayName: String?
  @OrNull var avatarUrl: String?
  let profileStatus: String
  let locale: String
  @OrNull var timeZone: String?
  let createdAt: Date
  @OrNull var lastLoginAt: Date?

  init(_ profile: Profile) {
    let account = profile.account
    id = "user_\(account.id)"
    _email = OrNull(wrappedValue: account.email)
    _name = OrNull(wrappedValue: account.displayName)
    _displayName = OrNull(wrappedValue: account.displayName)
    _avatarUrl = OrNull(wrappedValue: account.avatarURL)
    profileStatus = account.displayName == nil ? "INCOMPLETE" : "COMPLETE"
    locale = account.locale ?? "en"
    _timeZone = OrNull(wrappedValue: account.timeZone)
    createdAt = account.createdAt
    _lastLoginAt = OrNull(wrappedValue: account.lastLoginAt)
  }

  /// Whether `text` is the user's id, with its prefix or without.
  static func names(_ text: String, _ user: UserID) -> Bool {
    UserID(text.hasPrefix("user_") ? String(text.dropFirst(5)) : text) == user
  }
}

/// What apps with prefixed ids change. Their names are of 2 to 80 characters, their languages those that they come in.
struct MemberChangesBody: Decodable {
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

  func changes() throws(Failure) -> ProfileChanges {
    if let name = name ?? displayName {
      let trimmed = name.trimmingCharacters(in: .whitespacesAndNewlines)
      guard (2...80).contains(trimmed.unicodeScalars.count) else {
        throw .invalid(.init("name", "must have 2 to 80 characters"))
      }
    }
    if let locale = locale ?? language, !Self.locales.contains(locale) {
      throw .invalid(.init("locale", "must be one of \(Self.locales.sorted().joined(separator: ", "))"))
    }
    return try ProfileChanges(
      displayName: name ?? displayName, avatarURL: avatarUrl, locale: locale ?? language, timeZone: timeZone)
  }
}
