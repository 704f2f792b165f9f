import Web
import Wire

/// What every service answers about one user: all that it keeps, and that it has forgotten it.
package struct UserDataClient: Sendable {
  package let service: ServiceName
  private let client: ServiceClient

  package init(_ service: ServiceName, in surroundings: Surroundings) {
    self.service = service
    self.client = ServiceClient(service, in: surroundings)
  }

  /// Everything that the service keeps about the user.
  package func export(_ user: UserID) async throws -> JSONValue {
    try await client.call(.GET, Self.path(user), timeout: .seconds(20), bodyBytesMax: 64 * 1024 * 1024)
  }

  /// Everything is gone when it returns, but for what the law or the ledger needs under the bare id. Safe to repeat.
  package func erase(_ user: UserID) async throws {
    let _: Nothing = try await client.call(.DELETE, Self.path(user), isRepeatable: true, timeout: .seconds(20))
  }

  private static func path(_ user: UserID) -> CallPath { "/internal/users/\(user)/data" }
}

/// Every other service's, made once: what each may be asked again when it fails is counted over all calls.
package struct UserDataClients: Sendable {
  private let all: [UserDataClient]
  private let neighbours: Neighbours

  package init(than service: ServiceName, in surroundings: Surroundings) {
    all = ServiceName.allCases.filter { $0 != service }.map { UserDataClient($0, in: surroundings) }
    neighbours = surroundings.neighbours
  }

  /// Of those that are somewhere.
  package var present: [UserDataClient] {
    let present = Set(neighbours.present)
    return all.filter { present.contains($0.service) }
  }
}

/// A body that does not matter, or is not there.
struct Nothing: Decodable {}
