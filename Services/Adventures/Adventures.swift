import Clients
import EventFeed
import Foundation
import Web

/// Builds the adventures service.
package func buildAdventures(_ dependencies: Dependencies) async throws -> Server {
  let settings = dependencies.settings
  let serviceKeys = try ServiceKeys(settings)
  let verification = try TokenVerification(in: dependencies)
  let users = UsersClient(in: dependencies)
  let feed = EventFeed(try await dependencies.openDatabase(adventuresSchema), in: dependencies)
  return try Server(
    .adventures, in: dependencies, database: feed.database,
    authenticator: verification.authenticator(serviceKeys, users: users, now: dependencies.now),
    api: OpenAPI(yaml: PackageResources.openapi_yaml),
    background: verification.background + feed.background, isReady: { verification.ended.isLoaded }
  ) { routes in
    PersonalDataRoutes(AdventuresPersonalDataStore(database: feed.database), now: dependencies.now).add(to: routes)
  }
}
