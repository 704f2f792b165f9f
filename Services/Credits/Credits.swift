import Clients
import Foundation
import Web

/// The credits service: where everything meets.
package func buildCredits(_ surroundings: Surroundings) async throws -> Server {
  let settings = surroundings.settings
  let serviceKeys = try ServiceKeys(settings)
  let adminKey = try settings.adminKey()
  let dataKeys = try settings.dataKeys()
  let signupCredits = try settings.int("SIGNUP_CREDITS", default: 50, in: 0...Operation.amountMax)
  let verification = try Verification(in: surroundings)
  let users = UsersClient(in: surroundings)

  let database = try await surroundings.openDatabase(for: "credits", creditsMigrations)
  let idempotency = Idempotency(database: database, keys: dataKeys, now: surroundings.now)
  let store = LedgerStore(database: database, signupCredits: signupCredits)
  let accounts = Accounts(store: store, users: users, logger: surroundings.logger, now: surroundings.now)
  let postings = Postings(accounts: accounts, idempotency: idempotency)
  let callers = Callers(
    keys: serviceKeys, verifier: verification.verifier, ended: verification.ended, now: surroundings.now,
    outsider: verification.outsiders.user
  ) { try await users.user(knownAs: $0) }
  return try Server(
    .credits, in: surroundings, database: database, callers: callers,
    api: OpenAPI(yaml: PackageResources.openapi_yaml),
    background: verification.background + [IdempotencySweep(idempotency, logger: surroundings.logger)],
    isReady: { verification.ended.isKnown }
  ) { routes in
    CreditRoutes(accounts: accounts, postings: postings, adminKey: adminKey, now: surroundings.now).add(to: routes)
    InternalCreditRoutes(accounts: accounts, postings: postings, now: surroundings.now).add(to: routes)
    PersonalDataRoutes(PersonalDataStore(database: database, accounts: accounts), now: surroundings.now).add(to: routes)
  }
}
