import AsyncHTTPClient
import NIOCore
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

  /// Exports of this size are kept while those of other services are read.
  private static let keptBytesMax = 256 * 1024

  /// Everything that the service keeps about the user.
  package func export(_ user: UserID) async throws -> ExportedData {
    let (path, timeout) = (Self.path(user), Duration.seconds(20))
    let kept = try await client.bytes(of: path, upTo: Self.keptBytesMax, timeout: timeout)
    return ExportedData(service: service, kept: kept) { [client] in
      try await client.stream(of: path, timeout: timeout)
    }
  }

  /// Deletes everything that the service keeps about the user, except what the law or the ledger requires under the
  /// bare id. Safe to repeat.
  package func erase(_ user: UserID) async throws {
    let _: EmptyBody = try await client.call(.DELETE, Self.path(user), isRepeatable: true, timeout: .seconds(20))
  }

  private static func path(_ user: UserID) -> CallPath { "/internal/users/\(user)/data" }
}

/// What a service keeps about a user, as the text of a JSON object.
package struct ExportedData: Sendable {
  package let service: ServiceName
  /// nil when it is large.
  private let kept: ByteBuffer?
  private let request: @Sendable () async throws -> HTTPClientResponse.Body

  fileprivate init(
    service: ServiceName, kept: ByteBuffer?, request: @escaping @Sendable () async throws -> HTTPClientResponse.Body
  ) {
    self.service = service
    self.kept = kept
    self.request = request
  }

  /// Whether it is in memory: reading it does not fail.
  package var isKept: Bool { kept != nil }

  /// Its text in parts. What is not kept is requested each time, and takes no more memory than a part.
  ///
  /// - Throws: what the request fails with. The sequence throws when the service breaks off.
  package func parts() async throws -> HTTPClientResponse.Body {
    if let kept { return .bytes(kept) }
    return try await request()
  }
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
