import Foundation
import Logging
import Tokens
import Web
import Wire

/// Users who come with bearers of outside issuers (`OIDC_ISSUERS`): whose bearers those are, and who they are here.
package struct Outsiders: Sendable {
  private let issuers: [String: Entry]
  private let identify: @Sendable (OutsideUser) async throws -> UserID

  struct Entry: Sendable {
    let issuer: OutsideIssuer
    let isExternal: Bool
  }

  /// - Parameter identify: the local user, made at first sight; throws 401 for one that was deactivated.
  /// - Throws: ``StartFailure`` that names `OIDC_ISSUERS` and what is wrong with it.
  package init(
    _ settings: Settings, logger: Logger, identify: @escaping @Sendable (OutsideUser) async throws -> UserID
  ) throws {
    self.identify = identify
    var issuers: [String: Entry] = [:]
    for listed in try settings.outsideIssuers() {
      guard issuers.updateValue(listed.entry(logger: logger), forKey: listed.name) == nil else {
        throw StartFailure("OIDC_ISSUERS lists \(listed.name) twice")
      }
    }
    guard issuers.values.count(where: \.isExternal) <= 1 else {
      throw StartFailure("OIDC_ISSUERS: only one issuer can share its subjects with users/resolve")
    }
    self.issuers = issuers
  }

  /// Whether a token says that it is of one of these issuers; nothing is believed yet.
  package func claim(_ token: String) -> Bool { entry(token) != nil }

  private func entry(_ token: String) -> Entry? {
    guard !issuers.isEmpty else { return nil }
    return OutsideIssuer.claimed(by: token).flatMap { issuers[$0] }
  }

  /// - Throws: ``TokenRejected``; ``Failure``: 401 for a deactivated account, 503 when the issuer's keys or auth cannot
  ///   be reached.
  package func believed(_ token: String, at now: Date) async throws -> Believed {
    guard let entry = entry(token) else { throw TokenRejected.issuer }
    let said: OutsideToken
    do { said = try await entry.issuer.verify(token, at: now) } catch let rejected as TokenRejected {
      throw rejected
    } catch {
      throw Failure.unavailable
    }
    let user = try await identify(
      OutsideUser(
        issuer: entry.issuer.name, subject: said.subject, email: said.email, isEmailVerified: said.isEmailVerified,
        displayName: said.displayName, isExternal: entry.isExternal))
    return Believed(user: user, until: min(said.expiresAt, now + EndedSessions.Entry.rememberedSeconds))
  }

  /// A local user, and until when that may be remembered together with the token.
  package struct Believed: Sendable {
    package let user: UserID
    package let until: Date
  }

  /// The user of a token that is of one of these issuers; nil when it is not. For ``Callers``.
  @Sendable package func user(bearing token: String, at now: Date) async throws -> UserID? {
    guard claim(token) else { return nil }
    return try await believed(token, at: now).user
  }
}
