import Clients
import Foundation
import Web

/// Builds the events service: its log, routes and background jobs.
package func buildEvents(_ dependencies: Dependencies) async throws -> Server {
  let settings = dependencies.settings
  let serviceKeys = try ServiceKeys(settings)
  let verification = try TokenVerification(in: dependencies)
  let users = UsersClient(in: dependencies)

  let database = try await dependencies.openDatabase(eventsSchema)
  return try Server(
    .events, in: dependencies, database: database,
    authenticator: verification.authenticator(serviceKeys, users: users, now: dependencies.now),
    api: OpenAPI(yaml: PackageResources.openapi_yaml), background: verification.background,
    isReady: { verification.ended.isLoaded }
  ) { _ in }
}
