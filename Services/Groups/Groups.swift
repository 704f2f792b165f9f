import Clients
import Foundation
import Quotas
import Web

/// The groups service: where everything meets.
package func buildGroups(_ surroundings: Surroundings) async throws -> Server {
  let serviceKeys = try ServiceKeys(surroundings.settings)
  let dataKeys = try surroundings.settings.dataKeys()
  let verification = try Verification(in: surroundings)
  let (users, now) = (UsersClient(in: surroundings), surroundings.now)

  let database = try await surroundings.openDatabase(for: "groups", groupsMigrations)
  let idempotency = Idempotency(database: database, keys: dataKeys, now: now)
  let sights = PhotoSights()
  let groups = GroupStore(database: database)
  let memberships = MembershipStore(database: database, sights: sights)
  let collectionMembers = CollectionMemberStore(database: database)
  let devices = DeviceStore(database: database)
  let quotas = QuotaStore(keys: dataKeys)
  let acquaintances = Acquaintances(database: database, users: users, quotas: quotas)
  let photos = try PhotoParts(
    in: surroundings, database: database, keys: dataKeys, idempotency: idempotency, users: users, sights: sights,
    deliveries: [GroupTexts.delivery(through: InvitesClient(in: surroundings))])
  let callers = Callers(
    keys: serviceKeys, verifier: verification.verifier, ended: verification.ended, now: now,
    outsider: verification.outsiders.user
  ) { try await users.user(knownAs: $0) }
  return try Server(
    .groups, in: surroundings, database: database, callers: callers, api: OpenAPI(yaml: PackageResources.openapi_yaml),
    background: verification.background
      + [
        IdempotencySweep(idempotency, logger: surroundings.logger), photos.sweep, photos.outbox,
        QuotaSweep(database: database, quotas: quotas, logger: surroundings.logger, now: now),
      ],
    // A photo may come over a slow line; the gateway says for every route how long it waits.
    patience: .seconds(180), isReady: { verification.ended.isKnown }, isQuick: PhotoFileRoutes.isView
  ) { routes in
    GroupRoutes(
      groups: groups, acquaintances: acquaintances, texts: GroupTexts(outbox: photos.outbox), idempotency: idempotency,
      now: now
    ).add(to: routes)
    MemberRoutes(memberships: memberships, now: now).add(to: routes)
    InternalGroupRoutes(memberships: memberships, idempotency: idempotency, now: now).add(to: routes)
    InternalRelationRoutes(relations: RelationStore(database: database)).add(to: routes)
    CollectionRoutes(collections: CollectionStore(database: database), idempotency: idempotency, now: now)
      .add(to: routes)
    CollectionMemberRoutes(members: collectionMembers, users: users, now: now).add(to: routes)
    InternalCollectionRoutes(members: collectionMembers, now: now).add(to: routes)
    BlockRoutes(
      blocks: BlockStore(database: database), users: users, idempotency: idempotency, sights: sights, now: now
    ).add(to: routes)
    DeviceRoutes(devices: devices, idempotency: idempotency, now: now).add(to: routes)
    NamedDeviceRoutes(devices: devices, idempotency: idempotency, now: now).add(to: routes)
    photos.add(to: routes)
    PersonalDataRoutes(
      PersonalDataStore(database: database, outbox: photos.outbox, sights: sights), now: now
    ).add(to: routes)
  }
}
