import Foundation
import Support

extension Calls {
  /// A user of Apple, whose token is revoked, and what Apple tells about the user.
  func appleCalls() async throws {
    for (index, address) in ["plans@privaterelay.appleid.com", "plans2@privaterelay.appleid.com"].enumerated() {
      let token = try identityToken(address)
      apple.allow("code-\(index)", for: token)
      try await stack.gateway.ok(
        .POST, "/api/v1/auth/apple",
        ["identity_token": token, "authorization_code": "code-\(index)", "name": "Plans"])
    }
    let token = try identityToken("plans2@privaterelay.appleid.com")
    let user = try await SignedInUser(
      stack.gateway.ok(.POST, "/api/v1/auth/apple", ["identity_token": token]), through: stack.gateway)
    try await user.browser.ok(.DELETE, "/api/v1/auth/account")
    try await eventually("the revocation") { !apple.calls(to: "/auth/revoke").isEmpty }
    try await stack.gateway.ok(
      .POST, "/api/v1/auth/apple", ["identity_token": identityToken("plans3@privaterelay.appleid.com")])
    for type in ["email-disabled", "email-enabled", "consent-revoked", "account-delete"] {
      try await stack.gateway.ok(.POST, "/webhooks/apple/signin", ["payload": notification(type)])
      try await eventually("work on \(type)") {
        try await stack.count("inbox where due_at is not null", in: "auth") == 0
      }
    }
  }

  private func identityToken(_ address: String) throws -> String {
    try stack.apple.identityToken(
      subject: "plans.apple", at: stack.clock.now, changing: ["email": address, "is_private_email": true])
  }

  private func notification(_ type: String) throws -> String {
    let seconds = Int(stack.clock.now.timeIntervalSince1970)
    let event = """
      {"type":"\(type)","sub":"plans.apple","email":"plans3@privaterelay.appleid.com","is_private_email":"true",\
      "event_time":\(seconds * 1000)}
      """
    return try stack.apple.sign([
      "iss": "https://appleid.apple.com", "aud": "com.example.kith", "iat": seconds, "exp": seconds + 86_400,
      "jti": UUID().uuidString, "events": event,
    ])
  }
}
