import Web
import Wire

/// Exports and erases the data of a user in one service.
package struct PersonalDataClient: Sendable {
  package let service: ServiceName
  private let client: ServiceClient

  package init(_ service: ServiceName, in dependencies: Dependencies) {
    self.service = service
    self.client = ServiceClient(service, in: dependencies)
  }

  /// Everything that the service keeps about the user.
  package func export(_ user: UserID) async throws -> JSONValue {
    try await client.call(.GET, Self.path(user), timeout: .seconds(20), bodyBytesMax: 64 * 1024 * 1024)
  }

  /// Deletes everything that the service keeps about the user, except what the law or the ledger requires under the
  /// bare id. Safe to repeat.
  package func erase(_ user: UserID) async throws {
    let _: EmptyBody = try await client.call(.DELETE, Self.path(user), isRepeatable: true, timeout: .seconds(20))
  }

  private static func path(_ user: UserID) -> CallPath { "/internal/users/\(user)/data" }
}

/// The clients of all services but one. Made once, as the retry budget of a client counts over all its calls.
package struct PersonalDataClients: Sendable {
  private let clients: [PersonalDataClient]
  private let serviceAddresses: ServiceAddresses

  package init(except service: ServiceName, in dependencies: Dependencies) {
    clients = ServiceName.allCases.filter { $0 != service }.map { PersonalDataClient($0, in: dependencies) }
    serviceAddresses = dependencies.serviceAddresses
  }

  /// The clients of the services that have an address.
  package var configured: [PersonalDataClient] {
    let configured = Set(serviceAddresses.configured)
    return clients.filter { configured.contains($0.service) }
  }
}

/// A response body that is empty or not read.
struct EmptyBody: Decodable {}
