import Foundation
import Wire

/// How long, for how many and with which role a link with a code is to be good.
struct LinkTerms: Sendable, Hashable {
  let role: String?
  let usesMax: Int?
  let expiresAt: Date

  /// What an app asks for; the rest has its usual values.
  struct Body: Decodable, Sendable {
    let role: String?
    let max_uses: Int?
    let expires_at: String?
  }

  static let usesMost = 1000
  static let secondsMost = 365.0 * 86_400

  /// - Parameters:
  ///   - roles: those that it can give, the usual one first; empty where there is only one.
  ///   - prefix: of the fields' names, in a failure.
  /// - Throws: the validation failure that names the fields.
  init(_ body: Body?, roles: [String], in prefix: String = "", at now: Date) throws(Failure) {
    var wrong: [Failure.Field] = []
    if let role = body?.role, !roles.isEmpty, !roles.contains(role) {
      wrong.append(.init("\(prefix)role", "must be \(roles.joined(separator: " or "))"))
    }
    role = roles.isEmpty ? nil : body?.role ?? roles[0]
    if let uses = body?.max_uses, !(1...Self.usesMost).contains(uses) {
      wrong.append(.init("\(prefix)max_uses", "must be from 1 to \(Self.usesMost)"))
    }
    usesMax = body?.max_uses
    let time = body?.expires_at.map { Self.time($0) ?? .distantPast } ?? now + Invite.lifetimeSeconds
    if time <= now || time > now + Self.secondsMost {
      wrong.append(.init("\(prefix)expires_at", "must be a time with its zone, within the next year"))
    }
    expiresAt = time
    guard wrong.isEmpty else { throw .invalid(wrong) }
  }

  /// RFC 3339, with any zone.
  private static func time(_ text: String) -> Date? {
    if let time = Instant.parse(text) { return time }
    // `try?`: text that is no time is this function's nil.
    let style = Date.ISO8601FormatStyle(includingFractionalSeconds: text.contains("."))
    return (try? style.parse(text))?.wholeMilliseconds
  }
}
