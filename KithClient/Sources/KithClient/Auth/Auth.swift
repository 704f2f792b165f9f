import Foundation

/// Signing in and out, and the account.
public struct Auth: Sendable {
  let api: API

  /// The session: its state, and its changes as an `AsyncSequence`.
  public var sessions: Sessions { api.sessions }

  /// - Parameters:
  ///   - identityToken: of `ASAuthorizationAppleIDCredential`.
  ///   - nonce: the one whose hash was in the request to Apple.
  ///   - authorizationCode: lets the server end Apple's authorization when the account is deleted.
  ///   - name: Apple gives it only at the first sign-in.
  public func signInWithApple(
    identityToken: String, nonce: AppleNonce, authorizationCode: String? = nil, name: PersonNameComponents? = nil
  ) async throws {
    struct Name: Encodable {
      let givenName: String?
      let familyName: String?
    }
    struct Body: Encodable {
      let identityToken: String
      let nonce: String
      let authorizationCode: String?
      let name: Name?

      private enum CodingKeys: String, CodingKey {
        case nonce, name
        case identityToken = "identity_token"
        case authorizationCode = "authorization_code"
      }
    }
    let body = Body(
      identityToken: identityToken, nonce: nonce.raw, authorizationCode: authorizationCode,
      name: name.map { Name(givenName: $0.givenName, familyName: $0.familyName) })
    try await signIn(try Call.post("/api/v1/auth/apple").with(json: body))
  }

  /// - Throws: ``KithFailure``, with the code `invalid_credentials` for a wrong address or password.
  public func signIn(email: String, password: String) async throws {
    try await signIn(try .post("/api/v1/auth/sign_in", ["email": email, "password": password]))
  }

  /// Makes an account.
  ///
  /// When an answer is lost and the account turns out to exist, with this password, the user is signed in to it.
  public func signUp(email: String, password: String, name: String? = nil) async throws {
    var body = ["email": email, "password": password]
    body["name"] = name
    body["timezone"] = TimeZone.current.ianaName
    do { try await signIn(try Call.post("/api/v1/auth/sign_up", body).once) } catch KithFailure.unreachable {
      // Nobody can know whether it was done: if so, the password is right.
      do { try await signIn(email: email, password: password) } catch let failure as KithFailure
        where failure.code == .known(.invalidCredentials)
      { try await signIn(try Call.post("/api/v1/auth/sign_up", body).once) }
    }
  }

  /// Has a code of six digits texted.
  public func requestCode(phoneNumber: String) async throws -> SentCode {
    try await api.value(
      try Call.post("/api/auth/request-verification", ["phone_number": phoneNumber]).anonymous.once)
  }

  /// Signs in with the texted code. A code is used up by one call.
  ///
  /// - Parameter firstName: for a new account.
  public func signIn(phoneNumber: String, code: String, firstName: String? = nil) async throws -> PhoneUser {
    var body = ["phone_number": phoneNumber, "code": code]
    body["first_name"] = firstName
    let response = try await signIn(try Call.post("/api/auth/verify/confirm", body).once)
    return try WireCoding.decode(UserAnswer<PhoneUser>.self, from: response.body).user
  }

  /// Uses tokens of an outside issuer, such as Clerk, which the server accepts.
  ///
  /// - Parameter tokens: is asked before each call, and again when a token was refused.
  public func signIn(outside tokens: @escaping Sessions.OutsideTokens) async { await sessions.start(tokens) }

  /// Signs out on this device at once, and on the server if it can be reached.
  public func signOut() async {
    guard let token = await sessions.end(.byUser) else { return }
    // `try?`: without a server the token ends by itself.
    _ = try? await api.send(try Call.post("/api/v1/auth/logout", ["refresh_token": token]).anonymous)
  }

  /// Kept for an hour.
  public func account() async throws -> Account { try await api.value(.get("/api/v1/auth/me", cache: .users)) }

  /// Kept for an hour.
  public func profile() async throws -> Profile {
    try await api.value(.get("/api/v1/users/profile", cache: .users), as: UserAnswer<Profile>.self).user
  }

  /// The number with which the user has signed in, and the name. Kept for an hour.
  public func phoneUser() async throws -> PhoneUser { try await api.value(.get("/api/auth/me", cache: .users)) }

  /// What is nil stays as it is, and an empty text removes. Safe to repeat.
  ///
  /// - Parameters:
  ///   - avatarURL: https, such as ``Files/publicURL(of:)``. Its own file before it is deleted.
  ///   - locale: a language tag, such as `de` or `pt-BR`, for mails and notifications.
  ///   - isDiscoverable: whether others who know the number are told that it has an account.
  public func changeProfile(
    name: String? = nil, timeZone: TimeZone? = nil, avatarURL: String? = nil, locale: String? = nil,
    isDiscoverable: Bool? = nil
  ) async throws -> Profile {
    struct Body: Encodable {
      let name: String?
      let timezone: String?
      let avatarURL: String?
      let locale: String?
      let discoverable: Bool?

      private enum CodingKeys: String, CodingKey {
        case name, timezone, locale, discoverable
        case avatarURL = "avatar_url"
      }
    }
    let body = Body(
      name: name, timezone: timeZone?.ianaName, avatarURL: avatarURL, locale: locale, discoverable: isDiscoverable)
    let call = try Call.patch("/api/v1/users/profile", body).with { $0.cache = .users }
    return try await api.value(call, as: UserAnswer<Profile>.self).user
  }

  /// Not repeated when there is no answer: the first attempt may have changed it. Other devices are signed out.
  ///
  /// - Throws: ``KithFailure``, such as `invalid_credentials`, `same_password`, or `validation_error` for a weak one.
  public func changePassword(from current: String, to new: String) async throws {
    _ = try await api.send(
      try Call.patch("/api/v1/users/profile/password", ["current_password": current, "password": new]).once)
  }

  /// Has a mail sent with which the user chooses a new password. Says nothing about whether there is an account.
  public func requestPasswordReset(email: String) async throws {
    _ = try await api.send(try Call.post("/api/v1/auth/password", ["email": email]).anonymous.once)
  }

  /// Where the user is signed in.
  public func deviceSessions() async throws -> [DeviceSession] {
    try await api.value(.get("/api/v1/auth/sessions"), as: SessionsAnswer.self).sessions
  }

  /// Signs out all other devices. Safe to repeat.
  public func endOtherSessions() async throws { _ = try await api.send(.delete("/api/v1/auth/sessions")) }

  /// Signs out one other device.
  public func endSession(_ id: DeviceSession.ID) async throws {
    _ = try await api.send(.delete("/api/v1/auth/sessions/\(id)"))
  }

  /// Everything that the server has on the user, as JSON.
  public func exportedData() async throws -> Data {
    try await api.send(Call.get("/api/v1/users/me/export").with { $0.timeoutSeconds = 60 }).body
  }

  /// Deletes the account, and signs out. Ask before.
  public func deleteAccount() async throws {
    _ = try await api.send(.delete("/api/v1/auth/account"))
    await sessions.end(.byUser)
  }

  @discardableResult
  func signIn(_ call: Call) async throws -> HTTPResponse {
    let response = try await api.send(call.anonymous)
    try await sessions.start(try WireCoding.decode(TokenPair.self, from: response.body))
    return response
  }
}
