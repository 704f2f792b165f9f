import Foundation
import Hummingbird
import Web
import Wire

/// Tells the gateway, and services that stand alone, who comes with a bearer of an outside issuer.
struct OutsiderRoutes: Sendable {
  let outsiders: OutsideAccounts
  let rule: ProofRule

  func add(to routes: Router<Context>) {
    let names = Set(ServiceName.allCases.map(\.rawValue)).union(["gateway"])
    routes.group(context: ServiceCaller.self).add(middleware: Admits(names))
      .post("/internal/users/identified", use: identified)
  }

  @Sendable private func identified(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    .exactJSON(try await outsiders.account(of: try await request.json(OutsideUser.self)).profile(under: rule))
  }
}

/// The accounts of users who come with bearers of outside issuers.
struct OutsideAccounts: Sendable {
  let accounts: AccountStore
  let signIns: SignIns
  let now: @Sendable () -> Date

  /// Counted as a sign-in when the user is seen for the first time, or turned away.
  ///
  /// - Throws: 401 when the account was deactivated.
  func account(of user: OutsideUser) async throws -> Account {
    try await signIns.countingFailures(of: .outside) {
      guard let found = try await accounts.account(bearing: try Identity(user), at: now()) else {
        throw Failure.accountDeactivated
      }
      if found.isFirstSight { signIns.count(.outside, .done) }
      return found.account
    }
  }
}

extension Identity {
  /// - Throws: the validation failure for an issuer that is no address, as the other ways in have names of their own, or
  ///   a subject that is none.
  fileprivate init(_ user: OutsideUser) throws(Failure) {
    guard user.issuer.contains("://"), user.issuer.utf8.count <= 255 else {
      throw .invalid(.init("issuer", "must be an address"))
    }
    guard (1...255).contains(user.subject.utf8.count) else {
      throw .invalid(.init("subject", "must have 1 to 255 characters"))
    }
    self = user.isExternal ? .external(user.subject) : Identity(issuer: user.issuer, subject: user.subject)
    // An address or a name that is none is no reason to turn anybody away.
    email = user.email.flatMap(EmailAddress.init)?.text
    isEmailVerified = email != nil && user.isEmailVerified
    displayName = (try? DisplayName.optional(user.displayName, field: "display_name")) ?? nil
  }
}

extension Failure {
  static let accountDeactivated = Failure(
    .unauthorized, "account_deactivated", "This account has been deleted. Sign in again in the app to bring it back.")
}
