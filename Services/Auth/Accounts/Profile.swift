import Database
import Foundation
import Tokens
import Wire

/// An account with its identities, as its own user sees it.
struct Profile: Sendable {
  /// An identity that is linked to the account.
  struct LinkedIdentity: Sendable {
    let issuer: String
    let subject: String
    let email: String?
    let isEmailVerified: Bool
    let createdAt: Date
  }

  let account: Account
  let identities: [LinkedIdentity]
  let hasPassword: Bool
  /// An e-mail address that replaces the present one when its code has been entered.
  let newEmail: PendingEmailChange?

  /// nil when there is no such account, or it is not active.
  static func find(_ user: UserID, on db: any Connection) throws -> Profile? {
    try Profile(db.rows(of: queries(user)))
  }

  /// The statements whose rows are those of ``init(_:)``.
  static func queries(_ user: UserID) -> [SQL] {
    [
      AccountStore.accountSQL(user),
      """
      select issuer, subject, email, is_email_verified, created_at from identity where account_id = \(user)
      order by created_at, case when issuer = \(Identity.emailIssuer) then 1 else 0 end, issuer
      """,
      "select account_id from password where account_id = \(user)",
      PendingEmailChange.ofUser(user),
    ]
  }

  /// The account's own address: verified addresses first.
  var email: LinkedIdentity? {
    let own = identities.filter { $0.issuer == Identity.emailIssuer }
    return own.first(where: \.isEmailVerified) ?? own.first
  }

  var phone: LinkedIdentity? { identities.first { $0.issuer == Identity.phoneIssuer } }

  /// The providers of the identities without duplicates, in the order of their first identities. An address that was
  /// added with another identity comes after it.
  var providers: [String] {
    identities.compactMap(\.provider).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }

  var metadata: JSONValue {
    // `try?`: it was valid JSON when it was stored.
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

extension Profile {
  /// nil when the account is not active.
  init?(_ rows: [[Row]]) throws {
    guard let account = try rows[0].first.map(Account.init), account.isActive else { return nil }
    self.init(
      account: account, identities: try rows[1].map(LinkedIdentity.init), hasPassword: !rows[2].isEmpty,
      newEmail: try rows[3].first.map(PendingEmailChange.init))
  }
}

extension Profile.LinkedIdentity {
  fileprivate init(_ row: Row) throws {
    issuer = try row.get("issuer")
    subject = try row.get("subject")
    email = try row.optional("email")
    isEmailVerified = try row.get("is_email_verified")
    createdAt = try row.get("created_at")
  }

  /// nil for identities of external systems and of `dev/token`.
  var provider: String? {
    switch issuer {
    case Identity.emailIssuer, Identity.phoneIssuer: issuer
    case SignInWithApple.issuer: "apple"
    case Identity.externalIDIssuer, Identity.developerIssuer: nil
    default: issuer
    }
  }
}
