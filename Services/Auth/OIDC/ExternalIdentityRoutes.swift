import Foundation
import Hummingbird
import Web
import Wire

/// Resolves users with tokens of external issuers, for the gateway and for services that are called directly.
struct ExternalIdentityRoutes: Sendable {
  let accounts: ExternalAccounts
  let policy: VerificationPolicy

  func add(to routes: HTTPRoutes) {
    routes.group(context: ServiceCaller.self).add(middleware: RequiresService.anyProcess)
      .post("/internal/users/identified", use: identified)
  }

  @Sendable private func identified(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    .exactJSON(try await accounts.account(of: try await request.json(ExternalUser.self)).profile(under: policy))
  }
}

/// The accounts of users with tokens of external issuers.
struct ExternalAccounts: Sendable {
  let accounts: AccountStore
  let signInCounter: SignInCounter
  let now: @Sendable () -> Date

  /// Counted as a sign-in when the user is new or refused.
  ///
  /// - Throws: 401 when the account was deactivated.
  func account(of user: ExternalUser) async throws -> Account {
    try await signInCounter.countingFailures(of: .externalIssuer) {
      guard let found = try await accounts.account(forExternal: try Identity(user), at: now()) else {
        throw Failure.accountDeactivated
      }
      if found.isNew { signInCounter.count(.externalIssuer, .done) }
      return found.account
    }
  }
}

extension Identity {
  /// - Throws: the validation failure for an issuer that is not a URL, as other issuers have reserved names, or for an
  ///   invalid subject.
  fileprivate init(_ user: ExternalUser) throws(Failure) {
    guard user.issuer.contains("://"), user.issuer.utf8.count <= 255 else {
      throw .invalid(.init("issuer", "must be an address"))
    }
    guard (1...255).contains(user.subject.utf8.count) else {
      throw .invalid(.init("subject", "must have 1 to 255 characters"))
    }
    self = user.sharesExternalIDs ? .externalID(user.subject) : Identity(issuer: user.issuer, subject: user.subject)
    // An invalid address or name is ignored rather than refused.
    email = user.email.flatMap(EmailAddress.init)?.text
    isEmailVerified = email != nil && user.isEmailVerified
    displayName = (try? DisplayName.optional(user.displayName, field: "display_name")) ?? nil
  }
}

extension Failure {
  static let accountDeactivated = Failure(
    .unauthorized, "account_deactivated", "This account has been deleted. Sign in again in the app to bring it back.")
}
