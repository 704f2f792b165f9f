import Clients
import Foundation
import Web

/// Builds the credits service: its stores, routes and background jobs.
package func buildCredits(_ dependencies: Dependencies) async throws -> Server {
  let settings = dependencies.settings
  let serviceKeys = try ServiceKeys(settings)
  let adminKey = try settings.adminKey()
  let dataKeys = try settings.dataKeys()
  let signupCredits = try settings.int("SIGNUP_CREDITS", default: 50, in: 0...CreditOperation.amountMax)
  let costs = try OperationCosts(settings)
  let verification = try TokenVerification(in: dependencies)
  let users = UsersClient(in: dependencies)

  let database = try await dependencies.openDatabase(creditsSchema)
  let idempotency = Idempotency(database: database, keys: dataKeys, now: dependencies.now)
  let store = LedgerStore(database: database, signupCredits: signupCredits)
  let accounts = CreditAccounts(store: store, users: users, logger: dependencies.logger, now: dependencies.now)
  let posting = IdempotentPosting(accounts: accounts, idempotency: idempotency)
  let audits = AuditStatus(in: dependencies.registry, now: dependencies.now)
  let auditor = LedgerAuditor(
    database: database, status: audits, logger: dependencies.logger, now: dependencies.now,
    interval: min(dependencies.pollInterval, .seconds(60)))
  let expiry = CreditExpiry(
    database: database, logger: dependencies.logger, now: dependencies.now,
    interval: min(dependencies.pollInterval, .seconds(20)))
  return try Server(
    .credits, in: dependencies, database: database,
    authenticator: verification.authenticator(serviceKeys, users: users, now: dependencies.now),
    api: OpenAPI(yaml: PackageResources.openapi_yaml),
    background: verification.background
      + [IdempotencySweep(idempotency, logger: dependencies.logger), auditor, expiry],
    isReady: { verification.ended.isLoaded }, healthDetails: { ["ledger": audits.text] }
  ) { routes in
    CreditRoutes(accounts: accounts, posting: posting, costs: costs, adminKey: adminKey, now: dependencies.now)
      .add(to: routes)
    let holds = HoldRoutes(costs: costs, posting: posting, now: dependencies.now)
    InternalCreditRoutes(accounts: accounts, posting: posting, holds: holds, auditor: auditor, now: dependencies.now)
      .add(to: routes)
    PersonalDataRoutes(PersonalDataStore(database: database, accounts: accounts), now: dependencies.now).add(to: routes)
  }
}
