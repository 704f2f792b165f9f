import Database
import Foundation
import Messages
import Wire

/// What users read and change of their own accounts.
struct ProfileStore: Sendable {
  let database: any Database

  /// nil when the account is not active.
  func profile(of user: UserID) async throws -> Profile? {
    try await database.read { db in try Profile.find(user, on: db) }
  }

  func owner(of email: EmailAddress) async throws -> UserID? {
    try await database.read { db in try AccountStore.owner(ofEmail: email.canonical, on: db) }
  }

  func owner(of number: PhoneNumber) async throws -> UserID? {
    let identity = Identity(issuer: Identity.phoneIssuer, subject: number.text)
    return try await database.read { db in try AccountStore.find(identity, on: db)?.id }
  }

  /// Changes what is named and leaves the rest. nil when the account is not active.
  func change(_ user: UserID, _ changes: ProfileChanges) async throws -> Profile? {
    try await database.write { db in try Self.change(user, changes, on: db) }
  }

  static func change(_ user: UserID, _ changes: ProfileChanges, on db: any Connection) throws -> Profile? {
    guard try AccountStore.hold(user, on: db) else { return nil }
    for (column, value) in changes.columns {
      try db.change("update account set \(column) = \(value) where id = \(user)")
    }
    if let isDiscoverable = changes.isDiscoverable {
      try db.change("update account set is_discoverable = \(isDiscoverable) where id = \(user)")
    }
    if let metadata = changes.metadata { try AccountStore.keep(metadata, of: user, on: db) }
    return try Profile.find(user, on: db)
  }
}

/// What somebody wants changed of their profile. What is not named stays; an empty text removes.
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

  /// - Throws: the validation failures of what is wrong, all at once.
  init(
    displayName: String? = nil, avatarURL: String? = nil, locale: String? = nil, timeZone: String? = nil,
    isDiscoverable: Bool? = nil, metadata: JSONValue? = nil
  ) throws(Failure) {
    var wrong: [Failure.Field] = []
    if let displayName {
      do { self.displayName = .some(try DisplayName.optional(displayName, field: "name")) } catch {
        wrong += error.fields
      }
    }
    if let avatarURL {
      let isFine = avatarURL.isEmpty || Self.isLink(avatarURL)
      if isFine {
        self.avatarURL = .some(avatarURL.isEmpty ? nil : avatarURL)
      } else {
        wrong.append(.init("avatar_url", "must be an https URL of at most 2048 characters"))
      }
    }
    if let locale {
      if locale.isEmpty || Self.isLocale(locale) {
        self.locale = .some(locale.isEmpty ? nil : locale)
      } else {
        wrong.append(.init("locale", "must be a language tag such as en or pt-BR"))
      }
    }
    if let timeZone {
      if timeZone.isEmpty || Self.isTimeZone(timeZone) {
        self.timeZone = .some(timeZone.isEmpty ? nil : timeZone)
      } else {
        wrong.append(.init("timezone", "must be an IANA time zone such as Europe/Oslo"))
      }
    }
    self.isDiscoverable = isDiscoverable
    self.metadata = metadata
    if !wrong.isEmpty { throw .invalid(wrong) }
  }

  private static func isLink(_ text: String) -> Bool {
    guard text.utf8.count <= 2048, let url = URL(string: text) else { return false }
    return url.scheme == "https" && url.host?.isEmpty == false
  }

  /// BCP 47, as far as its shape goes.
  private static func isLocale(_ text: String) -> Bool {
    text.utf8.count <= 35 && text.wholeMatch(of: /[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*/) != nil
  }

  private static func isTimeZone(_ text: String) -> Bool {
    text.utf8.count <= 64 && (["UTC", "GMT"].contains(text) || text.contains("/")) && TimeZone(identifier: text) != nil
  }
}
