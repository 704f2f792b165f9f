import Foundation
import Wire

/// The role, the number of uses and the expiry of a new link with a code.
struct LinkOptions: Sendable, Hashable {
  let role: String?
  let usesMax: Int?
  let expiresAt: Date

  /// The options in a request; those that are left out have default values.
  struct Body: Decodable, Sendable {
    let role: String?
    let max_uses: Int?
    let expires_at: String?
  }

  static let usesMaxLimit = 1000
  static let lifetimeSecondsMax = 365.0 * 86_400

  /// - Parameter roles: the roles that the link can give, the default first; empty where the target has only one role.
  /// - Throws: the validation failure that names every invalid field.
  init(_ body: Body?, roles: [String], at now: Date) throws {
    let (role, usesMax, expiresAt) = try FieldErrors.collected(
      { try Self.role(body?.role, of: roles) }, { try Self.usesMax(body?.max_uses) },
      { try Self.expiry(body?.expires_at, at: now) })
    self.role = role
    self.usesMax = usesMax
    self.expiresAt = expiresAt
  }

  private static func role(_ role: String?, of roles: [String]) throws(Failure) -> String? {
    guard let defaultRole = roles.first else { return nil }
    guard let role else { return defaultRole }
    guard roles.contains(role) else {
      throw .invalid(.init("role", "must be \(roles.joined(separator: " or "))"))
    }
    return role
  }

  private static func usesMax(_ uses: Int?) throws(Failure) -> Int? {
    guard let uses else { return nil }
    guard (1...usesMaxLimit).contains(uses) else {
      throw .invalid(.init("max_uses", "must be from 1 to \(usesMaxLimit)"))
    }
    return uses
  }

  private static func expiry(_ text: String?, at now: Date) throws(Failure) -> Date {
    guard let text else { return now + Invite.lifetimeSeconds }
    guard let time = Self.time(text), time > now, time <= now + lifetimeSecondsMax else {
      throw .invalid(.init("expires_at", "must be a time with its zone, within the next year"))
    }
    return time
  }

  /// A time in RFC 3339 format with any time zone.
  private static func time(_ text: String) -> Date? {
    if let time = RFC3339.parse(text) { return time }
    // `try?`: for text that is not a time the function returns nil.
    let style = Date.ISO8601FormatStyle(includingFractionalSeconds: text.contains("."))
    return (try? style.parse(text))?.wholeMilliseconds
  }
}
