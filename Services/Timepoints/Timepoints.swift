import Clients
import EventFeed
import Foundation
import Web

/// Builds the timepoints service.
package func buildTimepoints(_ dependencies: Dependencies) async throws -> Server {
  let settings = dependencies.settings
  let serviceKeys = try ServiceKeys(settings)
  let verification = try TokenVerification(in: dependencies)
  let users = UsersClient(in: dependencies)
  let feed = EventFeed(try await dependencies.openDatabase(timepointsSchema), in: dependencies)
  return try Server(
    .timepoints, in: dependencies, database: feed.database,
    authenticator: verification.authenticator(serviceKeys, users: users, now: dependencies.now),
    api: OpenAPI(yaml: PackageResources.openapi_yaml),
    background: verification.background + feed.background, isReady: { verification.ended.isLoaded }
  ) { routes in
    PersonalDataRoutes(TimepointsPersonalDataStore(database: feed.database), now: dependencies.now).add(to: routes)
  }
}
