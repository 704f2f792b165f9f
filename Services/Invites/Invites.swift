import Clients
import EventFeed
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
  let smsQuotas = try SMSQuotas(settings)
  let siteAssociation = try AppSiteAssociation(settings)
  let verification = try TokenVerification(in: dependencies)
  let (users, now) = (UsersClient(in: dependencies), dependencies.now)
  let joinTargetClient = JoinTargetClient(in: dependencies)

  let feed = EventFeed(try await dependencies.openDatabase(invitesSchema), in: dependencies)
  let database = feed.database
  let idempotency = Idempotency(database: database, keys: dataKeys, now: now)
  let invites = InviteStore(database: database, keys: dataKeys)
  let quotas = QuotaStore(keys: dataKeys)
  let attemptLimiter = CodeAttemptLimiter(database: database, quotas: quotas, users: users)
  let joinCoordinator = JoinCoordinator(database: database, joinTargetClient: joinTargetClient, in: dependencies)

  let outbox = Outbox(
    database: database, keys: dataKeys, in: dependencies,
    deliveries: [InviteText.delivery(messages, invites, now: now)])
  let textInvites = TextInviteStore(
    invites: invites, quotas: quotas, smsQuotas: smsQuotas, addressQuota: try .inviteTextsPerAddress(settings),
    outbox: outbox, links: appLinks)

  let contactDiscovery = try ContactDiscovery(settings, database: database, quotas: quotas, users: users)
  let contactVisibility = ContactVisibility(
    users: users, groups: joinTargetClient.groups, lists: joinTargetClient.lists, contactDiscovery: contactDiscovery)

  let directInvites = DirectInviteStore(invites: invites)
  let codeLinks = CodeLinkStore(invites: invites, appLinks: appLinks)

  return try Server(
    .invites, in: dependencies, database: database,
    authenticator: verification.authenticator(serviceKeys, users: users, now: now),
    api: OpenAPI(yaml: PackageResources.openapi_yaml),
    background: verification.background + [
      IdempotencySweep(idempotency, logger: dependencies.logger), joinCoordinator, outbox,
      InviteSweep(database: database, quotas: quotas, in: dependencies),
    ] + feed.background, isReady: { verification.ended.isLoaded }
  ) { routes in
    ShareLinkRoutes(
      invites: invites, joinCoordinator: joinCoordinator, joinTargetClient: joinTargetClient,
      contactVisibility: contactVisibility, users: users, links: appLinks, idempotency: idempotency, now: now
    ).add(to: routes)
    TextInviteRoutes(
      textInvites: textInvites, contactDiscovery: contactDiscovery, contactVisibility: contactVisibility,
      joinTargetClient: joinTargetClient, users: users, idempotency: idempotency, now: now
    ).add(to: routes)
    RedeemRoutes(
      invites: invites, joinCoordinator: joinCoordinator, attemptLimiter: attemptLimiter, idempotency: idempotency,
      now: now
    ).add(to: routes)
    GroupLinkRoutes(codeLinks: codeLinks, joinTargetClient: joinTargetClient, idempotency: idempotency, now: now)
      .add(to: routes)
    ListLinkRoutes(codeLinks: codeLinks, joinTargetClient: joinTargetClient, idempotency: idempotency, now: now)
      .add(to: routes)
    ListInviteRoutes(
      invites: invites, joinCoordinator: joinCoordinator, joinTargetClient: joinTargetClient,
      lookup: ListInviteLookup(invites: invites, attemptLimiter: attemptLimiter, users: users), users: users,
      idempotency: idempotency, now: now
    ).add(to: routes)
    DirectInviteRoutes(
      directInvites: directInvites, joinTargetClient: joinTargetClient, users: users, links: appLinks, now: now
    ).add(to: routes)
    InternalInviteRoutes(
      directInvites: directInvites, textInvites: textInvites, joinTargetClient: joinTargetClient, users: users,
      links: appLinks, now: now
    ).add(to: routes)
    InvitePageRoutes(
      invites: invites, joinTargetClient: joinTargetClient, attemptLimiter: attemptLimiter, users: users,
      links: appLinks, now: now
    ).add(to: routes)
    siteAssociation.add(to: routes)
    PersonalDataRoutes(PersonalDataStore(invites: invites, outbox: outbox), now: now).add(to: routes)
  }
}
