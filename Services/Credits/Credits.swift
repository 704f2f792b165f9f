import Clients
import EventFeed
import Foundation
import Outbox
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

  let feed = EventFeed(try await dependencies.openDatabase(creditsSchema), in: dependencies)
  let database = feed.database
  let idempotency = Idempotency(database: database, keys: dataKeys, now: dependencies.now)
  let billingSettings = try BillingSettings(dependencies)
  let outbox = Outbox(database: database, keys: dataKeys, in: dependencies, deliveries: billingSettings.deliveries)
  let remoteBilling = billingSettings.remote.map { RemoteBilling($0, outbox: outbox) }
  var store = LedgerStore(database: database, signupCredits: signupCredits)
  if let remoteBilling { store.onGranted = remoteBilling.onCreditsGranted }
  let accounts = CreditAccounts(store: store, users: users, logger: dependencies.logger, now: dependencies.now)
  let billingProvider = remoteBilling ?? billingSettings.provider(accounts)
  let posting = IdempotentPosting(accounts: accounts, idempotency: idempotency, billing: billingProvider)
  let billing = Billing(
    billingSettings, accounts: accounts, keys: dataKeys, outbox: outbox, idempotency: idempotency, adminKey: adminKey,
    in: dependencies)
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
      + [IdempotencySweep(idempotency, logger: dependencies.logger), auditor, expiry, outbox] + billing.background
      + feed.background,
    isReady: { verification.ended.isLoaded }, healthDetails: { ["ledger": .string(audits.text)] }
  ) { routes in
    CreditRoutes(accounts: accounts, posting: posting, costs: costs, adminKey: adminKey, now: dependencies.now)
      .add(to: routes)
    let holds = HoldRoutes(costs: costs, posting: posting, now: dependencies.now)
    InternalCreditRoutes(accounts: accounts, posting: posting, holds: holds, auditor: auditor, now: dependencies.now)
      .add(to: routes)
    billing.add(to: routes)
    PersonalDataRoutes(
      PersonalDataStore(database: database, accounts: accounts, billing: billing.personalData, outbox: outbox),
      now: dependencies.now
    ).add(to: routes)
  }
}
