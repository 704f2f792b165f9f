import Foundation
import Wire

/// A request body with an e-mail address and a password, at the top level or within `user` or `authentication`.
struct CredentialsBody: Decodable {
  let email: String?
  let password: String?
  let confirmation: String?
  let name: String?
  let timeZone: String?

  private enum Key: String, CodingKey {
    case user, authentication, email, password, name, timezone, time_zone
    case confirmation = "password_confirmation"
    case displayName = "display_name"
  }

  init(from decoder: any Decoder) throws {
    let outer = try decoder.container(keyedBy: Key.self)
    let wrapped = try [.user, .authentication].first { outer.contains($0) }
      .map { try outer.nestedContainer(keyedBy: Key.self, forKey: $0) }
    let body = wrapped ?? outer
    email = try body.decodeIfPresent(String.self, forKey: .email)
    password = try body.decodeIfPresent(String.self, forKey: .password)
    confirmation = try body.decodeIfPresent(String.self, forKey: .confirmation)
    name =
      try body.decodeIfPresent(String.self, forKey: .name)
      ?? body.decodeIfPresent(String.self, forKey: .displayName)
    timeZone =
      try body.decodeIfPresent(String.self, forKey: .timezone)
      ?? body.decodeIfPresent(String.self, forKey: .time_zone)
  }

  /// The validation failure that names the missing fields.
  var missing: Failure {
    .invalid(
      [("email", email), ("password", password)].filter { $0.1 == nil }.map { .init($0.0, "is required") })
  }
}

/// A request body with a new password, and the code, link token or current password that authorizes it.
struct NewPasswordBody: Decodable {
  let email: String?
  let token: String?
  let current: String?
  let password: String?
  let confirmation: String?

  private enum Key: String, CodingKey {
    case user, email, token, code, password
    case resetToken = "reset_password_token"
    case current = "current_password"
    case new = "new_password"
    case confirmation = "password_confirmation"
  }

  init(from decoder: any Decoder) throws {
    let outer = try decoder.container(keyedBy: Key.self)
    let body = try outer.contains(.user) ? outer.nestedContainer(keyedBy: Key.self, forKey: .user) : outer
    func text(_ keys: Key...) throws -> String? {
      for key in keys { if let text = try body.decodeIfPresent(String.self, forKey: key) { return text } }
      return nil
    }
    email = try text(.email)
    token = try text(.resetToken, .token, .code)
    current = try text(.current)
    password = try text(.password, .new)
    confirmation = try text(.confirmation)
  }
}
