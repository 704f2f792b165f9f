import Foundation
import Messages
import Wire

/// The fields of all request bodies of `/auth/v1`; each endpoint uses some of them.
struct SupabaseRequestBody: Decodable {
  let email: String?
  let phone: String?
  let password: String?
  let data: JSONValue?
  let display_name: String?
  let provider: String?
  let id_token: String?
  let authorization_code: String?
  /// Apple's raw nonce; for a change of the password, the code that `reauthenticate` sent.
  let nonce: String?
  let link_identity: Bool?
  let refresh_token: String?
  let create_user: Bool?
  let type: String?
  let token: String?
  let token_hash: String?
  let code_challenge: String?
  let code_challenge_method: String?
  let auth_code: String?
  let code_verifier: String?

  /// The display name, from `display_name` or else from the metadata, where apps put it under several keys.
  func name() throws(Failure) -> String? {
    var name = display_name
    for key in ["display_name", "full_name", "name"] where name == nil {
      if case .string(let text) = data?[key] { name = text }
    }
    return try DisplayName.optional(name, field: "display_name")
  }

  /// The PKCE code challenge; nil from an app that does not use PKCE.
  func codeChallenge() throws(Failure) -> PKCECodeChallenge? {
    guard let text = code_challenge, !text.isEmpty else { return nil }
    return try PKCECodeChallenge(text, method: code_challenge_method)
  }

  /// The phone number, if there is one. These apps omit the plus sign.
  func number() throws(Failure) -> PhoneNumber? {
    guard let typed = phone, !typed.isEmpty else { return nil }
    return try .required(typed.hasPrefix("+") ? typed : "+" + typed, field: "phone")
  }

  func address() throws(Failure) -> EmailAddress {
    guard let typed = email else { throw .invalid(.init("email", "is required")) }
    return try .required(typed, field: "email")
  }
}
