import Clients
import Foundation
import Messages
import Outbox
import Quotas
import Web

/// The invites service: where everything meets.
package func buildInvites(_ surroundings: Surroundings) async throws -> Server {
  let settings = surroundings.settings
  let serviceKeys = try ServiceKeys(settings)
  let dataKeys = try settings.dataKeys()
  let links = try AppLinks(settings)
  let messages = try settings.messages(logger: surroundings.logger)
  let perText = try TextQuotas(settings)
  let site = try AppSiteAssociation(settings)
  let verification = try Verification(in: surroundings)
  let (users, now) = (UsersClient(in: surroundings), surroundings.now)
  let destinations = Destinations(in: surroundings)

  let database = try await surroundings.openDatabase(for: "invites", invitesMigrations)
  let idempotency = Idempotency(database: database, keys: dataKeys, now: now)
  let invites = InviteStore(database: database, keys: dataKeys)
  let quotas = QuotaStore(keys: dataKeys)
  let tries = CodeTries(database: database, quotas: quotas, users: users)
  let joins = Joins(database: database, destinations: destinations, in: surroundings)
  let outbox = Outbox(
    database: database, keys: dataKeys, in: surroundings,
    deliveries: [InviteText.delivery(messages, invites, now: now)])
  let texts = TextInvites(
    invites: invites, quotas: quotas, perText: perText, perAddress: try .inviteTextsPerAddress(settings),
    outbox: outbox, links: links)
  let checks = try ContactChecks(settings, database: database, quotas: quotas, users: users)
  let named = NamedPeople(users: users, groups: destinations.groups, lists: destinations.lists, checks: checks)
  let waiting = WaitingInvites(invites: invites)
  let codes = CodeLinks(invites: invites, addresses: links)
  let callers = Callers(
    keys: serviceKeys, verifier: verification.verifier, ended: verification.ended, now: now,
    outsider: verification.outsiders.user
  ) { try await users.user(knownAs: $0) }
  return try Server(
    .invites, in: surroundings, database: database, callers: callers, api: OpenAPI(yaml: PackageResources.openapi_yaml),
    background: verification.background + [
      IdempotencySweep(idempotency, logger: surroundings.logger), joins, outbox,
      Sweep(database: database, quotas: quotas, in: surroundings),
    ], isReady: { verification.ended.isKnown }
  ) { routes in
    ShareLinkRoutes(
      invites: invites, joins: joins, destinations: destinations, named: named, users: users, links: links,
      idempotency: idempotency, now: now
    ).add(to: routes)
    TextInviteRoutes(
      texts: texts, checks: checks, named: named, destinations: destinations, users: users, idempotency: idempotency,
      now: now
    ).add(to: routes)
    RedeemRoutes(invites: invites, joins: joins, tries: tries, idempotency: idempotency, now: now).add(to: routes)
    GroupLinkRoutes(codes: codes, destinations: destinations, idempotency: idempotency, now: now).add(to: routes)
    ListLinkRoutes(codes: codes, destinations: destinations, idempotency: idempotency, now: now).add(to: routes)
    ListEntryRoutes(
      invites: invites, joins: joins, destinations: destinations,
      entries: ListEntries(invites: invites, tries: tries, users: users), users: users, idempotency: idempotency,
      now: now
    ).add(to: routes)
    WaitingInviteRoutes(waiting: waiting, destinations: destinations, users: users, links: links, now: now)
      .add(to: routes)
    InternalInviteRoutes(
      waiting: waiting, texts: texts, destinations: destinations, users: users, links: links, now: now
    ).add(to: routes)
    InvitePage(invites: invites, destinations: destinations, tries: tries, users: users, links: links, now: now)
      .add(to: routes)
    site.add(to: routes)
    PersonalDataRoutes(PersonalDataStore(invites: invites, outbox: outbox), now: now).add(to: routes)
  }
}
