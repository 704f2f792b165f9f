import Clients
import Foundation
import Messages
import Outbox
import Quotas
import Web

/// Builds the invites service: its stores, routes and background jobs.
package func buildInvites(_ dependencies: Dependencies) async throws -> Server {
  let settings = dependencies.settings
  let serviceKeys = try ServiceKeys(settings)
  let dataKeys = try settings.dataKeys()
  let appLinks = try AppLinks(settings)
  let messages = try settings.smsSender(logger: dependencies.logger)
  let textQuotas = try SMSQuotas(settings)
  let siteAssociation = try AppSiteAssociation(settings)
  let verification = try TokenVerification(in: dependencies)
  let (users, now) = (UsersClient(in: dependencies), dependencies.now)
  let joinTargets = JoinTargets(in: dependencies)

  let database = try await dependencies.openDatabase(for: "invites", invitesMigrations)
  let idempotency = Idempotency(database: database, keys: dataKeys, now: now)
  let invites = InviteStore(database: database, keys: dataKeys)
  let quotas = QuotaStore(keys: dataKeys)
  let attemptLimiter = CodeAttemptLimiter(database: database, quotas: quotas, users: users)
  let joinCoordinator = JoinCoordinator(database: database, joinTargets: joinTargets, in: dependencies)
  let outbox = Outbox(
    database: database, keys: dataKeys, in: dependencies,
    deliveries: [InviteText.delivery(messages, invites, now: now)])
  let textInvites = TextInviteStore(
    invites: invites, quotas: quotas, textQuotas: textQuotas, addressQuota: try .inviteTextsPerAddress(settings),
    outbox: outbox, links: appLinks)
  let contactDiscovery = try ContactDiscovery(settings, database: database, quotas: quotas, users: users)
  let contactVisibility = ContactVisibility(
    users: users, groups: joinTargets.groups, lists: joinTargets.lists, contactDiscovery: contactDiscovery)
  let directInvites = DirectInviteStore(invites: invites)
  let codeLinks = CodeLinkStore(invites: invites, appLinks: appLinks)
  let authenticator = CallerAuthenticator(
    keys: serviceKeys, verifier: verification.verifier, ended: verification.ended, now: now,
    externalUser: verification.externalIdentities.user
  ) { try await users.user(knownAs: $0) }
  return try Server(
    .invites, in: dependencies, database: database, authenticator: authenticator,
    api: OpenAPI(yaml: PackageResources.openapi_yaml),
    background: verification.background + [
      IdempotencySweep(idempotency, logger: dependencies.logger), joinCoordinator, outbox,
      InviteSweep(database: database, quotas: quotas, in: dependencies),
    ], isReady: { verification.ended.isLoaded }
  ) { routes in
    ShareLinkRoutes(
      invites: invites, joinCoordinator: joinCoordinator, joinTargets: joinTargets,
      contactVisibility: contactVisibility, users: users, links: appLinks, idempotency: idempotency, now: now
    ).add(to: routes)
    TextInviteRoutes(
      textInvites: textInvites, contactDiscovery: contactDiscovery, contactVisibility: contactVisibility,
      joinTargets: joinTargets, users: users, idempotency: idempotency, now: now
    ).add(to: routes)
    RedeemRoutes(
      invites: invites, joinCoordinator: joinCoordinator, attemptLimiter: attemptLimiter, idempotency: idempotency,
      now: now
    ).add(to: routes)
    GroupLinkRoutes(codeLinks: codeLinks, joinTargets: joinTargets, idempotency: idempotency, now: now).add(to: routes)
    ListLinkRoutes(codeLinks: codeLinks, joinTargets: joinTargets, idempotency: idempotency, now: now).add(to: routes)
    ListInviteRoutes(
      invites: invites, joinCoordinator: joinCoordinator, joinTargets: joinTargets,
      lookup: ListInviteLookup(invites: invites, attemptLimiter: attemptLimiter, users: users), users: users,
      idempotency: idempotency, now: now
    ).add(to: routes)
    DirectInviteRoutes(directInvites: directInvites, joinTargets: joinTargets, users: users, links: appLinks, now: now)
      .add(to: routes)
    InternalInviteRoutes(
      directInvites: directInvites, textInvites: textInvites, joinTargets: joinTargets, users: users, links: appLinks,
      now: now
    ).add(to: routes)
    InvitePageRoutes(
      invites: invites, joinTargets: joinTargets, attemptLimiter: attemptLimiter, users: users, links: appLinks,
      now: now
    ).add(to: routes)
    siteAssociation.add(to: routes)
    PersonalDataRoutes(PersonalDataStore(invites: invites, outbox: outbox), now: now).add(to: routes)
  }
}
