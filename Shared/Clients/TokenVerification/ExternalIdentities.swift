import Foundation
import Logging
import Tokens
import Web
import Wire

/// Verifies bearer tokens of external issuers (`OIDC_ISSUERS`) and maps them to local users.
package struct ExternalIdentities: Sendable {
  private let issuers: [String: Entry]
  private let identify: @Sendable (ExternalUser) async throws -> UserID

  /// An issuer with its options.
  struct Entry: Sendable {
    let issuer: ExternalIssuer
    /// Whether its subjects are the `external_id` of `users/resolve`.
    let sharesExternalIDs: Bool
  }

  /// - Parameter identify: the local user, which is created at the first call; throws 401 for a deactivated one.
  /// - Throws: ``StartFailure`` that names `OIDC_ISSUERS` and what is wrong with it.
  package init(
    _ settings: Settings, logger: Logger, identify: @escaping @Sendable (ExternalUser) async throws -> UserID
  ) throws {
    self.identify = identify
    var issuers: [String: Entry] = [:]
    for issuer in try settings.externalIssuers() {
      guard issuers.updateValue(issuer.entry(logger: logger), forKey: issuer.name) == nil else {
        throw StartFailure("OIDC_ISSUERS lists \(issuer.name) twice")
      }
    }
    guard issuers.values.count(where: \.sharesExternalIDs) <= 1 else {
      throw StartFailure("OIDC_ISSUERS: only one issuer can share its subjects with users/resolve")
    }
    self.issuers = issuers
  }

  /// Whether a token claims one of these issuers. Does not verify it.
  package func hasIssuer(of token: String) -> Bool { entry(for: token) != nil }

  private func entry(for token: String) -> Entry? {
    guard !issuers.isEmpty else { return nil }
    return ExternalIssuer.claimedIssuer(of: token).flatMap { issuers[$0] }
  }

  /// Verifies a token and finds its local user.
  ///
  /// - Throws: ``TokenRejected``; ``Failure``: 401 for a deactivated account, 503 when the issuer's keys or auth cannot
  ///   be reached.
  package func verify(_ token: String, at now: Date) async throws -> VerifiedUser {
    guard let entry = entry(for: token) else { throw TokenRejected.issuer }
    let claims: ExternalToken
    do { claims = try await entry.issuer.verify(token, at: now) } catch let rejected as TokenRejected {
      throw rejected
    } catch {
      throw Failure.unavailable
    }
    let user = try await identify(
      ExternalUser(
        issuer: entry.issuer.name, subject: claims.subject, email: claims.email,
        isEmailVerified: claims.isEmailVerified, displayName: claims.displayName,
        sharesExternalIDs: entry.sharesExternalIDs))
    return VerifiedUser(user: user, until: min(claims.expiresAt, now + EndedSessions.Entry.cachedSeconds))
  }

  /// The local user of a token.
  package struct VerifiedUser: Sendable {
    package let user: UserID
    /// Until when the result may be cached together with the token.
    package let until: Date
  }

  /// The user of a token from one of these issuers; nil for any other token. For ``CallerAuthenticator``.
  @Sendable package func user(bearing token: String, at now: Date) async throws -> UserID? {
    guard hasIssuer(of: token) else { return nil }
    return try await verify(token, at: now).user
  }
}
