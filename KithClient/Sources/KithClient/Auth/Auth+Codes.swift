import Foundation

/// Signing in without a password: by a code that is mailed, or as nobody yet.
extension Auth {
  /// Has a code and a link mailed. Says nothing about whether there is an account.
  ///
  /// - Parameter makesAccount: whether a new address gets an account when the code is entered.
  /// - Throws: ``KithFailure``, such as `rate_limited`.
  public func requestCode(email: String, makesAccount: Bool = true) async throws {
    struct Body: Encodable {
      let email: String
      let createUser: Bool

      private enum CodingKeys: String, CodingKey {
        case email
        case createUser = "create_user"
      }
    }
    _ = try await api.send(
      try Call.post("/auth/v1/otp", Body(email: email, createUser: makesAccount)).anonymous.once)
  }

  /// Signs in with the mailed code. A code is used up by one call.
  ///
  /// - Throws: ``KithFailure``, with the code `otp_expired` for one that is wrong, used or too old.
  public func signIn(email: String, code: String) async throws {
    try await signIn(try Call.post("/auth/v1/verify", ["type": "email", "email": email, "token": code]).once)
  }

  /// Signs in with a new account without any way back in: add one with ``addApple(identityToken:nonce:authorizationCode:)``
  /// and so on. Not repeated when there is no answer.
  ///
  /// - Throws: ``KithFailure``, with the code `anonymous_provider_disabled` where the server does not allow it.
  public func signInAnonymously() async throws { try await signIn(try Call.post("/auth/v1/signup").once) }

  /// Chooses a new password with the code of the mail of ``requestPasswordReset(email:)``. Not repeated when there is no
  /// answer: a code is used up by one call.
  ///
  /// - Throws: ``KithFailure``, such as `invalid_code`, or `validation_error` for a weak password.
  public func resetPassword(email: String, code: String, to new: String) async throws {
    let body = ["email": email, "token": code, "password": new]
    _ = try await api.send(try Call.put("/api/v1/auth/password", body).anonymous.once)
  }
}
