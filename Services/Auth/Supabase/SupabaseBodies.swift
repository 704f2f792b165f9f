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
    user = SupabaseUserBody(profile)
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

  init(_ profile: Profile) {
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
  }
}

struct SupabaseIdentityBody: Encodable {
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
    identity_id = "\(provider):\(way.subject)"
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
}

/// What the calls of `/auth/v1` carry: each uses some of it.
struct SupabaseBody: Decodable {
  let email: String?
  let phone: String?
  let password: String?
  let data: JSONValue?
  let display_name: String?
  let provider: String?
  let id_token: String?
  let authorization_code: String?
  let nonce: String?
  let refresh_token: String?
  let create_user: Bool?
  let type: String?
  let token: String?
  let token_hash: String?

  /// The name that stands in the metadata, as apps put it there.
  func name() throws(Failure) -> String? {
    var name = display_name
    for key in ["display_name", "full_name", "name"] where name == nil {
      if case .string(let text) = data?[key] { name = text }
    }
    return try DisplayName.optional(name, field: "display_name")
  }
}
