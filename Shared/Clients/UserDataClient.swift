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

  /// One for every other service that is somewhere.
  package static func others(than service: ServiceName, in surroundings: Surroundings) -> [UserDataClient] {
    surroundings.neighbours.present.filter { $0 != service }.map { UserDataClient($0, in: surroundings) }
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

/// A body that does not matter, or is not there.
struct Nothing: Decodable {}
