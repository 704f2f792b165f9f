import Database
import Foundation
import Tokens
import Wire

/// An account with all its ways in, as its own user sees it.
struct Profile: Sendable {
  /// A way in.
  struct Way: Sendable {
    let issuer: String
    let subject: String
    let email: String?
    let isEmailVerified: Bool
    let createdAt: Date
  }

  let account: Account
  let ways: [Way]
  let hasPassword: Bool
  /// An address that takes the place of the present one once its code has come back.
  let newEmail: NewEmail?

  static func find(_ user: UserID, on db: any Connection) throws -> Profile? {
    guard let account = try AccountStore.account(user, on: db), account.isActive else { return nil }
    let ways = try db.rows(
      """
      select issuer, subject, email, is_email_verified, created_at from identity where account_id = \(user)
      order by created_at, case when issuer = \(Identity.emailIssuer) then 1 else 0 end, issuer
      """
    ).map(Way.init)
    let password = try db.row("select account_id from password where account_id = \(user)")
    return Profile(
      account: account, ways: ways, hasPassword: password != nil, newEmail: try NewEmail.find(user, on: db))
  }

  /// The address that is the account's own: verified before claimed.
  var email: Way? {
    let own = ways.filter { $0.issuer == Identity.emailIssuer }
    return own.first(where: \.isEmailVerified) ?? own.first
  }

  var phone: Way? { ways.first { $0.issuer == Identity.phoneIssuer } }

  /// The names of the ways in, each once, the first way first: an address that came with another way comes after it.
  var providers: [String] {
    ways.compactMap(\.provider).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }

  var metadata: JSONValue {
    // `try?`: it was JSON when it was stored.
    let own = account.metadata.flatMap { try? JSON.decode(JSONValue.self, from: Data($0.utf8)) }
    guard case .object(var members) = own ?? .object([:]) else { return .object([:]) }
    if let name = account.displayName, members["display_name"] == nil { members["display_name"] = .string(name) }
    if let url = account.avatarURL, members["avatar_url"] == nil { members["avatar_url"] = .string(url) }
    return .object(members)
  }

  var appMetadata: JSONValue {
    .object([
      "provider": .string(providers.first ?? "anonymous"),
      "providers": .array(providers.map(JSONValue.string)),
    ])
  }

  /// - Parameter then: when the session was opened.
  func claims(_ method: SignInMethod, at then: Date) -> GoTrueClaims {
    GoTrueClaims(
      email: account.email ?? "", phone: phone?.subject ?? "", isAnonymous: account.isAnonymous,
      appMetadata: appMetadata, userMetadata: metadata, method: method.rawValue, signedInAt: then)
  }
}

extension Profile.Way {
  fileprivate init(_ row: Row) throws {
    issuer = try row.get("issuer")
    subject = try row.get("subject")
    email = try row.optional("email")
    isEmailVerified = try row.get("is_email_verified")
    createdAt = try row.get("created_at")
  }

  /// nil for ways that only outside systems and developers use.
  var provider: String? {
    switch issuer {
    case Identity.emailIssuer, Identity.phoneIssuer: issuer
    case SignInWithApple.issuer: "apple"
    case Identity.externalIssuer, Identity.developerIssuer: nil
    default: issuer
    }
  }
}
