import Web
import Wire

/// Asks another service whether it is ready (`GET /health/ready`).
package struct ReadinessClient: Sendable {
  private let client: ServiceClient

  package init(_ service: ServiceName, in dependencies: Dependencies) {
    client = ServiceClient(service, in: dependencies)
  }

  /// False also when nothing, or something else, is answered within the timeout.
  package func isReady(within timeout: Duration) async -> Bool {
    do {
      _ = try await client.call(.GET, "/health/ready", timeout: timeout, as: JSONValue.self)
      return true
    } catch { return false }
  }
}
