import Clients
import Foundation
import Web

/// The lists service: where everything meets.
package func buildLists(_ surroundings: Surroundings) async throws -> Server {
  let settings = surroundings.settings
  let now = surroundings.now
  let serviceKeys = try ServiceKeys(settings)
  let dataKeys = try settings.dataKeys()
  let verification = try Verification(in: surroundings)
  let users = UsersClient(in: surroundings)

  let database = try await surroundings.openDatabase(for: "lists", listsMigrations)
  let idempotency = Idempotency(database: database, keys: dataKeys, now: now)
  let acquaintances = Acquaintances(users: users, now: now)
  let groups = GroupsClient(in: surroundings)
  let naming = Naming(database: database, users: users, groups: groups, now: now)
  let letIn = LettingIn(database: database, naming: naming, invites: InvitesClient(in: surroundings))
  let once = Once(idempotency: idempotency, acquaintances: acquaintances)
  let callers = Callers(
    keys: serviceKeys, verifier: verification.verifier, ended: verification.ended, now: now,
    outsider: verification.outsiders.user
  ) { try await users.user(knownAs: $0) }
  return try Server(
    .lists, in: surroundings, database: database, callers: callers, api: OpenAPI(yaml: PackageResources.openapi_yaml),
    background: verification.background + [IdempotencySweep(idempotency, logger: surroundings.logger)],
    isReady: { verification.ended.isKnown }, isQuick: ListRoutes.isIndex
  ) { routes in
    ListRoutes(database: database, acquaintances: acquaintances, once: once, now: now).add(to: routes)
    MembershipRoutes(database: database, acquaintances: acquaintances, letIn: letIn, once: once, now: now)
      .add(to: routes)
    TaskRoutes(database: database, acquaintances: acquaintances, once: once, now: now).add(to: routes)
    TaskActionRoutes(database: database, acquaintances: acquaintances, naming: naming, once: once, now: now).add(
      to: routes)
    TaskOrderRoutes(once: once, now: now).add(to: routes)
    SubtaskRoutes(database: database, acquaintances: acquaintances, once: once, now: now).add(to: routes)
    MyTaskRoutes(database: database, acquaintances: acquaintances, naming: naming, now: now).add(to: routes)
    TagRoutes(database: database, once: once, now: now).add(to: routes)
    InternalListRoutes(database: database, groups: groups, now: now).add(to: routes)
    PersonalDataRoutes(PersonalDataStore(database: database), now: now).add(to: routes)
  }
}
