import Crypto
import Foundation
import Wire

/// A user in the format of Supabase's client libraries.
struct SupabaseUserBody: Encodable {
  let id: UserID
  let aud = "authenticated"
  let role = "authenticated"
  let email: String
  let phone: String
  @NullCodable var display_name: String?
  let app_metadata: JSONValue
  let user_metadata: JSONValue
  let identities: [SupabaseIdentityBody]
  let is_anonymous: Bool
  let created_at: Date
  let updated_at: Date
  let last_sign_in_at: Date?
  let email_confirmed_at: Date?
  let phone_confirmed_at: Date?
  let confirmed_at: Date?
  let new_email: String?
  let email_change_sent_at: Date?

  init(_ profile: Profile, at now: Date) {
    let account = profile.account
    id = account.id
    email = account.email ?? ""
    phone = profile.phone.map { String($0.subject.drop { $0 == "+" }) } ?? ""
    _display_name = NullCodable(wrappedValue: account.displayName)
    app_metadata = profile.appMetadata
    user_metadata = profile.metadata
    identities = profile.identities.compactMap { SupabaseIdentityBody($0, of: account) }
    is_anonymous = account.isAnonymous
    created_at = account.createdAt
    updated_at = account.lastLoginAt ?? account.createdAt
    last_sign_in_at = account.lastLoginAt
    email_confirmed_at = profile.email.flatMap { $0.isEmailVerified ? $0.createdAt : nil }
    phone_confirmed_at = profile.phone?.createdAt
    confirmed_at = email_confirmed_at ?? phone_confirmed_at
    let pending = profile.newEmail.flatMap { $0.expiresAt > now ? $0 : nil }
    new_email = pending?.address
    email_change_sent_at = pending?.sentAt
  }
}

/// One identity of a user in the format of Supabase's client libraries.
struct SupabaseIdentityBody: Encodable {
  /// The user's id at the provider.
  let id: String
  let identity_id: String
  let user_id: UserID
  let identity_data: [String: JSONValue]
  let provider: String
  let created_at: Date
  let updated_at: Date
  let last_sign_in_at: Date

  /// nil for an identity that its user cannot sign in with: an external system's, or a developer's.
  init?(_ identity: Profile.LinkedIdentity, of account: Account) {
    guard let provider = identity.provider else { return nil }
    id = identity.subject
    identity_id = Self.identityID(of: identity, account.id)
    user_id = account.id
    var data: [String: JSONValue] = [
      "sub": .string(identity.subject), "email_verified": .bool(identity.isEmailVerified),
    ]
    if let email = identity.email { data["email"] = .string(email) }
    if identity.issuer == Identity.phoneIssuer { data["phone"] = .string(identity.subject) }
    identity_data = data
    self.provider = provider
    created_at = identity.createdAt
    updated_at = identity.createdAt
    last_sign_in_at = account.lastLoginAt ?? identity.createdAt
  }

  /// A stable id of an account's identity: a UUID of version 8 (RFC 9562 §5.8) made from the SHA-256 of user, issuer
  /// and subject.
  private static func identityID(of identity: Profile.LinkedIdentity, _ user: UserID) -> String {
    let hash = Array(SHA256.hash(data: Data("\(user)\n\(identity.issuer)\n\(identity.subject)".utf8)))
    let id = UUID(
      uuid: (
        hash[0], hash[1], hash[2], hash[3], hash[4], hash[5], hash[6] & 0x0F | 0x80, hash[7], hash[8] & 0x3F | 0x80,
        hash[9], hash[10], hash[11], hash[12], hash[13], hash[14], hash[15]
      ))
    return id.uuidString.lowercased()
  }
}
