import Messages
import Wire

/// The changes that a signed-in user asks for in one request: validated together, and applied together.
struct UserUpdate: Sendable {
  let profile: ProfileChanges
  let password: String?
  /// The code that a change of the password requires when the session is not new.
  let nonce: String?
  let email: EmailAddress?
  let phone: PhoneNumber?
  /// Where the link that is mailed to a new address redirects to.
  let redirect: String?
  /// The code challenge of the app that the link is for.
  let codeChallenge: PKCECodeChallenge?

  /// - Throws: the validation failure of what is wrong, except for the password, which is validated when it is hashed.
  init(_ body: SupabaseRequestBody, redirect: String?) throws {
    profile = try ProfileChanges(displayName: try body.name(), metadata: body.data)
    password = body.password
    nonce = body.nonce
    email = try body.email == nil ? nil : body.address()
    phone = try body.number()
    self.redirect = redirect
    codeChallenge = try body.codeChallenge()
  }
}
