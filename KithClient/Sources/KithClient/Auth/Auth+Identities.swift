import Foundation

/// The ways in which the user can sign in. The only one that is left cannot be removed: `last_identity`.
extension Auth {
  /// How the user can sign in.
  public func identities() async throws -> [Identity] {
    try await api.value(.get("/api/v1/auth/identities"), as: IdentitiesAnswer.self).identities
  }

  /// Adds Sign in with Apple, as ``signInWithApple(identityToken:nonce:authorizationCode:name:)``.
  ///
  /// - Returns: all ways in.
  /// - Throws: ``KithFailure``, with the code `identity_taken` when it belongs to another account.
  public func addApple(
    identityToken: String, nonce: AppleNonce, authorizationCode: String? = nil
  ) async throws -> [Identity] {
    var body = ["identity_token": identityToken, "nonce": nonce.raw]
    body["authorization_code"] = authorizationCode
    return try await api.value(try Call.post("/api/v1/auth/identities/apple", body).once, as: IdentitiesAnswer.self)
      .identities
  }

  /// Has a code mailed to an address that is to be added.
  public func requestCode(toAdd email: String) async throws {
    _ = try await api.send(try Call.post("/api/v1/auth/identities/email", ["email": email]).once)
  }

  /// Adds the address with the mailed code, which is used up by one call.
  ///
  /// - Returns: all ways in.
  /// - Throws: ``KithFailure``, such as `invalid_code` or `identity_taken`.
  public func add(email: String, code: String) async throws -> [Identity] {
    try await add("email", ["email": email, "code": code])
  }

  /// Has a code texted to a number that is to be added.
  public func requestCode(toAddPhoneNumber phoneNumber: String) async throws {
    _ = try await api.send(try Call.post("/api/v1/auth/identities/phone", ["phone_number": phoneNumber]).once)
  }

  /// Adds the number with the texted code, which is used up by one call.
  ///
  /// - Returns: all ways in.
  /// - Throws: ``KithFailure``, such as `invalid_code` or `identity_taken`.
  public func add(phoneNumber: String, code: String) async throws -> [Identity] {
    try await add("phone", ["phone_number": phoneNumber, "code": code])
  }

  /// Removes a way in. Without `email`, there is no password either. Safe to repeat.
  ///
  /// - Parameter identity: one of ``identities()``.
  /// - Throws: ``KithFailure``, with the code `last_identity` for the only one.
  public func remove(_ identity: Identity) async throws {
    let call =
      ["apple", "email", "phone"].contains(identity.provider)
      ? Call.delete("/api/v1/auth/identities/\(identity.provider)")
      : Call.delete("/api/v1/auth/identities", ["issuer": identity.provider])
    _ = try await api.send(call.with { $0.cache = .users })
  }

  private func add(_ kind: String, _ body: [String: String]) async throws -> [Identity] {
    let call = try Call.post("/api/v1/auth/identities/\(kind)/confirm", body).once.with { $0.cache = .users }
    return try await api.value(call, as: IdentitiesAnswer.self).identities
  }
}
