import Clients
import EventFeed
import Foundation
import Web

/// Builds the lists service: connects the database, the clients of other services, and the routes.
package func buildLists(_ dependencies: Dependencies) async throws -> Server {
  let settings = dependencies.settings
  let now = dependencies.now
  let serviceKeys = try ServiceKeys(settings)
  let dataKeys = try settings.dataKeys()
  let verification = try TokenVerification(in: dependencies)
  let users = UsersClient(in: dependencies)

  let feed = EventFeed(try await dependencies.openDatabase(listsSchema), in: dependencies)
  let database = feed.database
  let idempotency = Idempotency(database: database, keys: dataKeys, now: now)
  let peopleCache = PeopleCache(users: users, now: now)
  let groups = GroupsClient(in: dependencies)
  let contactVisibility = ContactVisibility(database: database, users: users, groups: groups, now: now)
  let memberAddition = MemberAddition(
    database: database, contactVisibility: contactVisibility, invites: InvitesClient(in: dependencies))
  let idempotentChange = IdempotentChange(idempotency: idempotency, peopleCache: peopleCache)
  return try Server(
    .lists, in: dependencies, database: database,
    authenticator: verification.authenticator(serviceKeys, users: users, now: now),
    api: OpenAPI(yaml: PackageResources.openapi_yaml),
    background: verification.background
      + [
        IdempotencySweep(idempotency, logger: dependencies.logger),
        Reminders(
          database: database, peopleCache: peopleCache, writes: dependencies.writes,
          pollInterval: dependencies.pollInterval, logger: dependencies.logger, now: now),
      ] + feed.background,
    isReady: { verification.ended.isLoaded }
  ) { routes in
    ListRoutes(database: database, peopleCache: peopleCache, idempotentChange: idempotentChange, now: now)
      .add(to: routes)
    MembershipRoutes(
      database: database, peopleCache: peopleCache, memberAddition: memberAddition,
      idempotentChange: idempotentChange, now: now
    ).add(to: routes)
    TaskRoutes(database: database, peopleCache: peopleCache, idempotentChange: idempotentChange, now: now)
      .add(to: routes)
    TaskActionRoutes(
      database: database, peopleCache: peopleCache, contactVisibility: contactVisibility,
      idempotentChange: idempotentChange, now: now
    ).add(to: routes)
    NudgeRoutes(
      database: database, peopleCache: peopleCache, contactVisibility: contactVisibility,
      idempotentChange: idempotentChange, now: now
    ).add(to: routes)
    FriendRoutes(database: database, peopleCache: peopleCache, groups: groups, now: now).add(to: routes)
    TaskOrderRoutes(idempotentChange: idempotentChange, now: now).add(to: routes)
    SubtaskRoutes(database: database, peopleCache: peopleCache, idempotentChange: idempotentChange, now: now)
      .add(to: routes)
    UserTaskRoutes(database: database, peopleCache: peopleCache, contactVisibility: contactVisibility, now: now)
      .add(to: routes)
    TagRoutes(database: database, idempotentChange: idempotentChange, now: now).add(to: routes)
    InternalListRoutes(database: database, groups: groups, now: now).add(to: routes)
    InternalTopicRoutes(TopicStore(database: database), of: feed).add(to: routes)
    PersonalDataRoutes(PersonalDataStore(database: database), now: now).add(to: routes)
  }
}
