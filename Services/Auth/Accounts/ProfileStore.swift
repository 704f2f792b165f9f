import Database
import Foundation
import Messages
import Outbox
import Wire

/// Statements on what users read and change of their own accounts.
struct ProfileStore: Sendable {
  let database: any Database
  let outbox: Outbox

  /// nil when the account is not active.
  func profile(of user: UserID) async throws -> Profile? {
    try await Profile(database.rows(of: Profile.queries(user)))
  }

  func owner(of email: EmailAddress) async throws -> UserID? {
    try await database.read { db in try AccountStore.owner(ofEmail: email.canonical, on: db) }
  }

  func owner(of number: PhoneNumber) async throws -> UserID? {
    let identity = Identity(issuer: Identity.phoneIssuer, subject: number.text)
    return try await database.read { db in try AccountStore.find(identity, on: db)?.id }
  }

  /// Changes the fields that are given. nil when the account is not active.
  func change(_ user: UserID, _ changes: ProfileChanges, at now: Date) async throws -> Profile? {
    try await database.write { db in try change(user, changes, at: now, on: db) }
  }

  func change(
    _ user: UserID, _ changes: ProfileChanges, at now: Date, on db: any Connection
  ) throws -> Profile? {
    guard try AccountStore.lockActive(user, on: db) else { return nil }
    try db.change("update account set updated_at = \(now) where id = \(user)")
    if let url = changes.avatarURL { try AvatarFile.delete(of: user, replacedBy: url, outbox, at: now, on: db) }
    for (column, value) in changes.columns {
      try db.change("update account set \(column) = \(value) where id = \(user)")
    }
    if let isDiscoverable = changes.isDiscoverable {
      try db.change("update account set is_discoverable = \(isDiscoverable) where id = \(user)")
    }
    if let metadata = changes.metadata { try AccountStore.mergeMetadata(metadata, of: user, on: db) }
    let profile = try Profile.find(user, on: db)
    if let profile { AccountEvents.changed(profile.account, at: now, on: db) }
    return profile
  }
}

/// Changes to a profile. A nil field stays as it is; an empty string removes the value.
struct ProfileChanges: Sendable {
  var displayName: String??
  var avatarURL: String??
  var locale: String??
  var timeZone: String??
  var isDiscoverable: Bool?
  var metadata: JSONValue?

  fileprivate var columns: [(SQL, String?)] {
    let all: [(SQL, String??)] = [
      ("display_name", displayName), ("avatar_url", avatarURL), ("locale", locale), ("time_zone", timeZone),
    ]
    return all.compactMap { column, value in value.map { (column, $0) } }
  }

  /// - Throws: the validation failure that names every invalid field.
  init(
    displayName: String? = nil, avatarURL: String? = nil, locale: String? = nil, timeZone: String? = nil,
    isDiscoverable: Bool? = nil, metadata: JSONValue? = nil
  ) throws {
    (self.displayName, self.avatarURL, self.locale, self.timeZone) = try FieldErrors.collected(
      { try displayName.map { try DisplayName.optional($0, field: "name") } },
      { try Self.field(avatarURL, "avatar_url", "must be an https URL of at most 2048 characters", Self.isLink) },
      { try Self.field(locale, "locale", "must be a language tag such as en or pt-BR", Self.isLocale) },
      { try Self.field(timeZone, "timezone", "must be an IANA time zone such as Europe/Oslo", Self.isTimeZone) })
    self.isDiscoverable = isDiscoverable
    self.metadata = metadata
  }

  /// - Throws: the validation failure with `rule` for a text that is not valid.
  private static func field(
    _ text: String?, _ name: String, _ rule: String, _ isValid: (String) -> Bool
  ) throws(Failure) -> String?? {
    guard let text else { return nil }
    guard text.isEmpty || isValid(text) else { throw .invalid(.init(name, rule)) }
    return .some(text.isEmpty ? nil : text)
  }

  private static func isLink(_ text: String) -> Bool {
    guard text.utf8.count <= 2048, let url = URL(string: text) else { return false }
    return url.scheme == "https" && url.host?.isEmpty == false
  }

  /// BCP 47: the syntax only.
  private static func isLocale(_ text: String) -> Bool {
    text.utf8.count <= 35 && text.wholeMatch(of: /[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*/) != nil
  }

  private static func isTimeZone(_ text: String) -> Bool {
    text.utf8.count <= 64 && (["UTC", "GMT"].contains(text) || text.contains("/")) && TimeZone(identifier: text) != nil
  }
}
