import Clients
import Foundation
import Tokens
import Web
import Wire

/// On whose behalf a socket or stream reads, and until when.
struct Credential: Sendable, Hashable {
  let user: UserID
  let session: SessionID?
  /// nil when the gateway has verified the token and only names the user.
  let expiresAt: Date?
}

/// Verifies the access tokens of channels, and sees later that they are no longer valid.
struct CredentialVerifier: Sendable {
  let verification: TokenVerification
  let now: @Sendable () -> Date

  /// - Throws: ``CredentialRejected``; ``Wire/Failure/unavailable`` when keys cannot be reached.
  func credential(of token: String) async throws -> Credential {
    let now = now()
    do {
      let external = verification.externalIdentities
      if external.hasIssuer(of: token) {
        let verified = try await external.verify(token, at: now)
        return Credential(user: verified.user, session: nil, expiresAt: verified.until)
      }
      let claims = try await verification.verifier.verify(token, at: now)
      guard !verification.ended.contains(claims.session) else { throw CredentialRejected.sessionEnded }
      return Credential(user: claims.user, session: claims.session, expiresAt: claims.expiresAt)
    } catch TokenRejected.expired {
      throw CredentialRejected.expired
    } catch is TokenRejected {
      throw CredentialRejected.invalid
    } catch is KeysUnavailable {
      throw Failure.unavailable
    }
  }

  /// Why the credential is no longer valid; nil while it is.
  func rejection(of credential: Credential, at now: Date) -> CredentialRejected? {
    if let expiresAt = credential.expiresAt, expiresAt <= now { return .expired }
    let session = credential.session ?? .externalTokens(of: credential.user)
    return verification.ended.contains(session) ? .sessionEnded : nil
  }
}

/// Why an access token does not count. The texts are those of the servers that the apps' client libraries know.
enum CredentialRejected: Error, Sendable {
  case expired, invalid, sessionEnded

  var message: String {
    switch self {
    case .expired: "Token has expired"
    case .invalid: "The token is not a valid access token"
    case .sessionEnded: "The session has ended"
    }
  }
}
