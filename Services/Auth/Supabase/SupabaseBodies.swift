import Crypto
import Foundation
import Wire

/// A session as Supabase's client libraries decode it.
struct SupabaseSessionBody: Encodable {
  let access_token: String
  let token_type = "bearer"
  let expires_in: Int
  let expires_at: Int
  let refresh_token: String
  let user: SupabaseUserBody

  init(_ pair: TokenPair, _ profile: Profile, at now: Date) {
    access_token = pair.access
    expires_in = max(0, Int(pair.accessExpiresAt.timeIntervalSince(now).rounded(.up)))
    expires_at = Int(pair.accessExpiresAt.timeIntervalSince1970)
    refresh_token = pair.refresh.text
    user = SupabaseUserBody(profile, at: now)
  }
}

/// A user as Supabase's client libraries decode one.
struct SupabaseUserBody: Encodable {
  let id: UserID
  let aud = "authenticated"
  let role = "authenticated"
  let email: String
  let phone: String
  @OrNull var display_name: String?
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
    _display_name = OrNull(wrappedValue: account.displayName)
    app_metadata = profile.appMetadata
    user_metadata = profile.metadata
    identities = profile.ways.compactMap { SupabaseIdentityBody($0, of: account) }
    is_anonymous = account.isAnonymous
    created_at = account.createdAt
    updated_at = account.lastLoginAt ?? account.createdAt
    last_sign_in_at = account.lastLoginAt
    email_confirmed_at = profile.email.flatMap { $0.isEmailVerified ? $0.createdAt : nil }
    phone_confirmed_at = profile.phone?.createdAt
    confirmed_at = email_confirmed_at ?? phone_confirmed_at
    let waiting = profile.newEmail.flatMap { $0.expiresAt > now ? $0 : nil }
    new_email = waiting?.address
    email_change_sent_at = waiting?.sentAt
  }
}

struct SupabaseIdentityBody: Encodable {
  /// What the provider calls the user.
  let id: String
  let identity_id: String
  let user_id: UserID
  let identity_data: [String: JSONValue]
  let provider: String
  let created_at: Date
  let updated_at: Date
  let last_sign_in_at: Date

  /// nil for ways in that are not the user's.
  init?(_ way: Profile.Way, of account: Account) {
    guard let provider = way.provider else { return nil }
    id = way.subject
    identity_id = Self.identityID(of: way, account.id)
    user_id = account.id
    var data: [String: JSONValue] = ["sub": .string(way.subject), "email_verified": .bool(way.isEmailVerified)]
    if let email = way.email { data["email"] = .string(email) }
    if way.issuer == Identity.phoneIssuer { data["phone"] = .string(way.subject) }
    identity_data = data
    self.provider = provider
    created_at = way.createdAt
    updated_at = way.createdAt
    last_sign_in_at = account.lastLoginAt ?? way.createdAt
  }

  /// Always the same for an account's way in: a UUID of version 8 (RFC 9562 §5.8) made of its SHA-256.
  private static func identityID(of way: Profile.Way, _ user: UserID) -> String {
    let hash = Array(SHA256.hash(data: Data("\(user)\n\(way.issuer)\n\(way.subject)".utf8)))
    let id = UUID(
      uuid: (
        hash[0], hash[1], hash[2], hash[3], hash[4], hash[5], hash[6] & 0x0F | 0x80, hash[7], hash[8] & 0x3F | 0x80,
        hash[9], hash[10], hash[11], hash[12], hash[13], hash[14], hash[15]
      ))
    return id.uuidString.lowercased()
  }
}
