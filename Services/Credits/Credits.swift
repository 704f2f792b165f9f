import Clients
import EventFeed
import Foundation
import Web

/// Builds the credits service: its stores, routes and background jobs.
package func buildCredits(_ dependencies: Dependencies) async throws -> Server {
  let settings = dependencies.settings
  let serviceKeys = try ServiceKeys(settings)
  let adminKey = try settings.adminKey()
  let dataKeys = try settings.dataKeys()
  let signupCredits = try settings.int("SIGNUP_CREDITS", default: 50, in: 0...CreditOperation.amountMax)
  let verification = try TokenVerification(in: dependencies)
  let users = UsersClient(in: dependencies)

  let feed = EventFeed(try await dependencies.openDatabase(creditsSchema), in: dependencies)
  let database = feed.database
  let idempotency = Idempotency(database: database, keys: dataKeys, now: dependencies.now)
  let store = LedgerStore(database: database, signupCredits: signupCredits)
  let accounts = CreditAccounts(store: store, users: users, logger: dependencies.logger, now: dependencies.now)
  let posting = IdempotentPosting(accounts: accounts, idempotency: idempotency)
  return try Server(
    .credits, in: dependencies, database: database,
    authenticator: verification.authenticator(serviceKeys, users: users, now: dependencies.now),
    api: OpenAPI(yaml: PackageResources.openapi_yaml),
    background: verification.background + [IdempotencySweep(idempotency, logger: dependencies.logger)]
      + feed.background,
    isReady: { verification.ended.isLoaded }
  ) { routes in
    CreditRoutes(accounts: accounts, posting: posting, adminKey: adminKey, now: dependencies.now).add(to: routes)
    InternalCreditRoutes(accounts: accounts, posting: posting, now: dependencies.now).add(to: routes)
    PersonalDataRoutes(PersonalDataStore(database: database, accounts: accounts), now: dependencies.now).add(to: routes)
  }
}
