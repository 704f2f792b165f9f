import Clients
import Foundation
import Web

/// Builds the events service: its log, routes and background jobs.
package func buildEvents(_ dependencies: Dependencies) async throws -> Server {
  let settings = dependencies.settings
  let serviceKeys = try ServiceKeys(settings)
  let verification = try TokenVerification(in: dependencies)
  let users = UsersClient(in: dependencies)
  let limits = try ConnectionLimits(settings)
  let metrics = EventMetrics(in: dependencies)
  let verifier = CredentialVerifier(verification: verification, now: dependencies.now)
  let owners = TopicRights.owningServices.filter(dependencies.serviceAddresses.configured.contains)
  let rights = TopicRights(client: TopicAccessClient(owners, in: dependencies), owners: owners)

  let database = try await dependencies.openDatabase(eventsSchema)
  let store = LogStore(database: database)
  let changes = ChangeSignal()
  let watches = StreamWatches()
  let observers: [any LogObserver] = [RightsObserver(rights: rights), watches]
  let tail = LogTail(store: store, changes: changes, observers: observers, logger: dependencies.logger)
  return try Server(
    .events, in: dependencies, database: database,
    authenticator: verification.authenticator(serviceKeys, users: users, now: dependencies.now),
    api: OpenAPI(yaml: PackageResources.openapi_yaml),
    background: verification.background + [
      tail, LogSweep(database: database, logger: dependencies.logger, now: dependencies.now),
    ],
    isReady: { verification.ended.isLoaded }
  ) { routes in
    FeedRoutes(store: store, changes: changes, metrics: metrics, now: dependencies.now).add(to: routes)
    EventStreamRoutes(
      store: store, watches: watches, rights: rights, verifier: verifier, limits: limits, metrics: metrics
    ).add(to: routes)
    PersonalDataRoutes(EventsPersonalDataStore(database: database), now: dependencies.now).add(to: routes)
  }
}
