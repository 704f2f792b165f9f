import Clients
import EventFeed
import Foundation
import Outbox
import Quotas
import RestRoutes
import Web

/// Builds the adventures service.
package func buildAdventures(_ dependencies: Dependencies) async throws -> Server {
  let (settings, now) = (dependencies.settings, dependencies.now)
  let serviceKeys = try ServiceKeys(settings)
  let dataKeys = try settings.dataKeys()
  let verification = try TokenVerification(in: dependencies)
  let (users, groups) = (UsersClient(in: dependencies), GroupsClient(in: dependencies))
  let hasEvents = settings.nonempty("EVENTS_URL") != nil

  let feed = EventFeed(try await dependencies.openDatabase(adventuresSchema), in: dependencies)
  let database = feed.database
  let idempotency = Idempotency(database: database, keys: dataKeys, now: now)
  let memberships = GroupMemberships(groups)
  let (shareChanges, huntChanges) = (ChangeSignal(), ChangeSignal())
  let shareBlocks = ShareBlocks(database: database, groups: groups, memberships: memberships, now: now)
  let outbox = Outbox(
    database: database, keys: dataKeys, in: dependencies,
    deliveries: [
      SubmissionPhotos.delivery(database, StorageClient(in: dependencies)), shareBlocks.delivery(),
    ])
  let participations = GroupParticipations(database: database, memberships: memberships, now: now)
  let requests = AdventureRequests(
    participations: participations, users: users, names: ParticipantNames(database: database, users: users),
    shareWrites: ShareWrites(users: users, groups: groups, outbox: outbox, changes: shareChanges),
    origin: try settings.stage() == .development ? settings.publicOrigin : nil,
    groupMembers: hasEvents ? GroupMembers(client: TopicAccessClient([.groups], in: dependencies)) : nil,
    huntChanges: huntChanges, now: now)
  let codes = HuntCodes(database: database, quotas: QuotaStore(keys: dataKeys), users: users)
  let api = OpenAPI(yaml: PackageResources.openapi_yaml)
  let health = HealthRPCRoutes(
    store: HealthStore(database: database),
    probes: ServiceProbes(of: hasEvents ? [.auth, .groups, .events] : [.auth, .groups], in: dependencies),
    hasEvents: hasEvents, stage: try settings.stage().rawValue, version: Kith.version,
    adminKey: try settings.adminKey(), now: now)
  return try Server(
    .adventures, in: dependencies, database: database,
    authenticator: verification.authenticator(serviceKeys, users: users, now: now), api: api,
    background: verification.background
      + [
        outbox, IdempotencySweep(idempotency, logger: dependencies.logger),
        HuntCodeSweep(codes: codes, logger: dependencies.logger, now: now),
        EndedShareSweep(database: database, logger: dependencies.logger, now: now),
      ]
      + [(ExpiryJob.Kind.shares, shareChanges), (.hunts, huntChanges)].map { kind, changes in
        ExpiryJob(
          kind: kind, database: database, changes: changes, pollInterval: dependencies.pollInterval,
          logger: dependencies.logger, now: now)
      } + feed.background,
    isReady: { verification.ended.isLoaded }
  ) { routes in
    RestRoutes(
      AdventureTables.schema, in: RestTransaction(database, idempotency), maxAge: AdventureTables.maxAge,
      answering: requests.answer
    ).add(to: routes)
    HuntJoinRoutes(
      joining: HuntJoining(
        database: database, codes: codes, groups: groups, users: users, participations: participations),
      requests: requests
    ).add(to: routes)
    ShownPhotoRoutes(database: database, requests: requests).add(to: routes)
    InternalMembershipRoutes(participations: participations).add(to: routes)
    InternalBlockRoutes(blocks: shareBlocks).add(to: routes)
    health.add(to: routes)
    let topics = TopicStore(database: database, participations: participations, now: now)
    InternalTopicRoutes(topics, of: feed).add(to: routes)
    PersonalDataRoutes(AdventuresPersonalDataStore(database: database, outbox: outbox, now: now), now: now).add(
      to: routes)
  }
}
