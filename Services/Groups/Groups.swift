import Clients
import EventFeed
import Foundation
import Photos
import Quotas
import RestRoutes
import Web

/// Builds the groups service: its stores, routes, and background jobs.
///
/// - Parameter library: what renders photos; without it the service is not ready.
package func buildGroups(_ dependencies: Dependencies, library: VipsLibrary = .shared) async throws -> Server {
  let serviceKeys = try ServiceKeys(dependencies.settings)
  let dataKeys = try dependencies.settings.dataKeys()
  let verification = try TokenVerification(in: dependencies)
  let (users, now) = (UsersClient(in: dependencies), dependencies.now)

  let feed = EventFeed(try await dependencies.openDatabase(groupsSchema), in: dependencies)
  let database = feed.database
  let idempotency = Idempotency(database: database, keys: dataKeys, now: now)
  let photoAccess = PhotoAccessCache()
  let groups = GroupStore(database: database)
  let collectionMembers = CollectionMemberStore(database: database)
  let quotas = QuotaStore(keys: dataKeys)
  let contacts = ContactLookup(database: database, users: users, quotas: quotas)
  let codes = GroupCodeStore(database: database, quotas: quotas, users: users)
  let photos = try PhotoModule(
    in: dependencies, database: database, keys: dataKeys, idempotency: idempotency, users: users,
    photoAccess: photoAccess, library: library,
    deliveries: [
      TextInviteOutbox.delivery(through: InvitesClient(in: dependencies)),
      MembershipOutbox.delivery(through: AdventuresClient(in: dependencies)),
      BlockOutbox.delivery(through: AdventuresClient(in: dependencies)),
    ])
  let memberships = MembershipStore(
    database: database, photoAccess: photoAccess,
    changes: MembershipOutbox(outbox: photos.outbox, serviceAddresses: dependencies.serviceAddresses))
  let tables = GroupTables.schema(pageOrigin: dependencies.settings.publicOrigin, memberships: memberships)
  let objects = try StoredObjectModule(in: dependencies, database: database, keys: dataKeys, library: library)
  return try Server(
    .groups, in: dependencies, database: database,
    authenticator: verification.authenticator(serviceKeys, users: users, now: now),
    api: OpenAPI(yaml: PackageResources.openapi_yaml),
    background: verification.background
      + [
        IdempotencySweep(idempotency, logger: dependencies.logger), photos.sweep, photos.outbox,
        objects.sweep,
        ContactQuotaSweep(database: database, quotas: quotas, logger: dependencies.logger, now: now),
        DeviceTransfer(
          database: database, events: EventsClient(in: dependencies),
          isEnabled: dependencies.settings.nonempty("EVENTS_URL") != nil, logger: dependencies.logger),
      ] + feed.background,
    // An upload may arrive over a slow connection. The gateway sets the timeout of each route.
    requestTimeout: .seconds(180),
    isReady: { verification.ended.isLoaded && library.isUsable(dependencies.logger) }
  ) { routes in
    GroupRoutes(
      groups: groups, contacts: contacts, textInvites: TextInviteOutbox(outbox: photos.outbox),
      idempotency: idempotency, now: now
    ).add(to: routes)
    MemberRoutes(memberships: memberships, now: now).add(to: routes)
    InternalMemberRoutes(memberships: memberships, idempotency: idempotency, now: now).add(to: routes)
    InternalRelationRoutes(relations: RelationStore(database: database)).add(to: routes)
    InternalGroupCodeRoutes(codes: codes).add(to: routes)
    GroupTableRoutes(
      schema: tables, transaction: RestTransaction(database, idempotency), codes: codes, memberships: memberships,
      now: now
    ).add(to: routes)
    CollectionRoutes(collections: CollectionStore(database: database), idempotency: idempotency, now: now)
      .add(to: routes)
    CollectionMemberRoutes(members: collectionMembers, users: users, now: now).add(to: routes)
    InternalCollectionRoutes(members: collectionMembers, now: now).add(to: routes)
    BlockRoutes(
      blocks: BlockStore(database: database), users: users, idempotency: idempotency, photoAccess: photoAccess,
      outbox: BlockOutbox(outbox: photos.outbox, serviceAddresses: dependencies.serviceAddresses), now: now
    ).add(to: routes)
    photos.add(to: routes)
    objects.add(to: routes)
    // Who reads a group reads its hunts.
    InternalTopicRoutes(TopicStore(database: database), of: feed, askingForReaders: ["events", "adventures"])
      .add(to: routes)
    PersonalDataRoutes(
      PersonalDataStore(database: database, outbox: photos.outbox, photoAccess: photoAccess), now: now
    ).add(to: routes)
  }
}
